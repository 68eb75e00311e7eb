import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { Database, type DatabaseOptions } from '../../src/database/database.ts';
import { changesBetween } from '../../src/database/rows.ts';
import { isInstalled } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const open = (options: DatabaseOptions) => new Database(options, () => null);

describe('a database', () => {
  it.each([
    ['sqlite:', '--db is sqlite:<file>, mysql://user@host/name or postgres://user@host/name (got "sqlite:")'],
    ['shop.db', 'got "shop.db"'],
    ['mysql://root:pass@127.0.0.1/shop', 'must not contain a password: put it into ~/.my.cnf'],
    ['postgres://a:b@localhost/shop', 'put it into ~/.pgpass, or into the variable PGPASSWORD'],
    ['postgres://localhost', 'must end with the name of the database'],
  ])('%s is refused', (db, why) => {
    expect(() => open({ db })).toThrow(why);
  });

  it.each([
    'mysql://root@db.example.com/shop',
    'postgres://localhost/shop?host=db.example.com',
    'postgres:///shop?hostaddr=127.0.0.1,192.0.2.1',
  ])('on a public host is refused: %s', (db) => {
    const isPublic = (url: string) => (/example|192/.test(url) ? `${url} is public` : null);
    expect(() => new Database({ db }, isPublic)).toThrow('--db is not allowed');
  });

  it('whose command does not end is given up, with all that it started', async () => {
    await expect(open({ dbCmd: 'sleep 60; true' }).read()).rejects.toThrow('did not finish within 5 s');
  });

  it('that a command prints is read', async () => {
    const database = open({ dbCmd: `echo "INSERT INTO orders (id, status) VALUES (17, 'paid');"` });
    expect(await database.read()).toEqual(
      new Map([['orders', new Map([['17', { id: 17, status: 'paid' }]])]]),
    );
    await expect(open({ dbCmd: 'echo no >&2; exit 3' }).read()).rejects.toThrow(
      'the database cannot be read: echo no >&2; exit 3 exited with code 3: no',
    );
  });
});

const SQL = [
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, identifier TEXT, status TEXT, total NUMERIC);',
  'CREATE TABLE mails (body TEXT);',
  `INSERT INTO orders VALUES (17, 'it''s "one"', 'pending', 49.9);`,
  "INSERT INTO mails VALUES ('same'); INSERT INTO mails VALUES ('same');",
].join('\n');

/** Reads the database, changes it, and reads it again. */
async function changed(db: string, change: (sql: string) => void) {
  change(SQL);
  const database = open({ db, dbSkip: ['left_out'] });
  const before = await database.read();
  expect(before.get('orders')?.get('17')).toMatchObject({ identifier: 'it\'s "one"', total: 49.9 });
  expect(before.get('mails')?.size).toBe(2);
  change("UPDATE orders SET status = 'paid'; INSERT INTO mails VALUES ('same');");
  return changesBetween(before, await database.read());
}

const CHANGES = [
  { table: 'orders', key: '17', column: 'status', from: 'pending', to: 'paid' },
  { table: 'mails', key: expect.any(String), column: '*', from: null, to: 'a row' },
];

const unlessMissing = (program: string) =>
  isInstalled(program) ? '' : ` (not tried here: ${program} is missing)`;

describe.skipIf(!isInstalled('sqlite3'))(`SQLite${unlessMissing('sqlite3')}`, () => {
  it('is read, also while a program writes', async () => {
    const file = join(await temporaryFolder(), 'shop.db');
    const change = (sql: string) => execFileSync('sqlite3', [file], { input: sql });
    expect(await changed(`sqlite:${file}`, change)).toEqual(expect.arrayContaining(CHANGES));
  });

  it('is only data: a table whose name has a line break, and rows that are alike', async () => {
    const file = join(await temporaryFolder(), 'shop.db');
    const name = `a
.shell touch "${file}.run"
b`;
    const input = `CREATE TABLE [${name}] (x); INSERT INTO [${name}] VALUES ('same'), ('same');`;
    execFileSync('sqlite3', [file], { input });
    expect((await open({ db: `sqlite:${file}` }).read()).get(name)?.size).toBe(2);
    expect(existsSync(`${file}.run`)).toBe(false);
  });

  it('that does not exist is not created', async () => {
    await expect(open({ db: 'sqlite:/nowhere/shop.db' }).read()).rejects.toThrow('unable to open database');
  });
});

describe.skipIf(!isInstalled('postgres'))(`PostgreSQL${unlessMissing('postgres')}`, () => {
  it('is read', async () => {
    // Another user must be able to enter it, and the path of a socket is short.
    const folder = await mkdtemp('/tmp/gateway-sim-postgres-');
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    // PostgreSQL does not run as root.
    const isRoot = process.getuid?.() === 0;
    const [user, group] = isRoot
      ? ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'])))
      : [];
    if (user !== undefined && group !== undefined) await chown(folder, user, group);
    const as = {
      ...(user !== undefined && { uid: user, gid: group }),
      cwd: folder,
      stdio: 'ignore',
    } as const;
    execFileSync('initdb', ['-D', join(folder, 'data'), '-A', 'trust', '-U', 'shop', '--no-sync'], as);
    const settings = ['listen_addresses=', 'fsync=off'].flatMap((one) => ['-c', one]);
    const server = spawn('postgres', ['-D', join(folder, 'data'), '-k', folder, ...settings], as);
    onTestFinished(async () => {
      server.kill('SIGINT');
      await once(server, 'exit');
    });
    const psql = (sql: string) =>
      execFileSync('psql', ['-q', '-h', folder, '-U', 'shop', 'postgres'], {
        input: sql,
        stdio: ['pipe', 'ignore', 'pipe'],
      });
    await expect
      .poll(() => execFileSync('pg_isready', ['-h', folder]).toString(), { timeout: 20_000 })
      .toBeTruthy();
    const db = `postgres://shop@${encodeURIComponent(folder)}/postgres`;
    expect(await changed(db, psql)).toEqual(expect.arrayContaining(CHANGES));
  });
});

describe(`MySQL and MariaDB${unlessMissing('mysql')}`, () => {
  it.skipIf(isInstalled('mysql'))('need their client, which is named with its package', async () => {
    await expect(open({ db: 'mysql://root@127.0.0.1/shop' }).read()).rejects.toThrow(
      'mysql is not installed. Install the package mariadb-client or mysql-client',
    );
  });
});
