import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { changesBetween } from '../../src/database/changes.ts';
import { Database, type DatabaseOptions } from '../../src/database/database.ts';
import { launchProgram } from '../helpers/child.ts';
import { isInstalled, startMariaDb, startPostgres } from '../helpers/databases.ts';
import { temporaryFolder } from '../helpers/folder.ts';

const open = (options: DatabaseOptions) => new Database(options, async (host) => [host]);

describe('a database', () => {
  it('whose command does not end is given up, with all that it started', async () => {
    await expect(open({ dbCmd: 'sleep 60; true' }).read()).rejects.toThrow('did not finish within 5 s');
  });

  it('that a command prints is read', async () => {
    const database = open({ dbCmd: `echo "INSERT INTO orders (id, status) VALUES (17, 'paid');"` });
    expect((await database.read()).rows).toEqual(
      new Map([['orders', new Map([['17', { id: 17, status: 'paid' }]])]]),
    );
    await expect(open({ dbCmd: 'echo no >&2; exit 3' }).read()).rejects.toThrow(
      'the database cannot be read: echo no >&2; exit 3 exited with code 3: no',
    );
  });
});

const SQL = [
  'CREATE TABLE orders (id INTEGER PRIMARY KEY, identifier TEXT, status TEXT, total NUMERIC(10, 1));',
  'CREATE TABLE mails (body TEXT);',
  `INSERT INTO orders VALUES (17, 'it''s "one"', 'pending', 49.9);`,
  "INSERT INTO mails VALUES ('same'); INSERT INTO mails VALUES ('same');",
].join('\n');

/** Reads the database, changes it, and reads it again, as of the moment that is told. */
async function changed(db: string, change: (sql: string) => void) {
  change(SQL);
  const database = open({ db, dbSkip: ['left_out'] });
  onTestFinished(() => database.close());
  const { rows: before } = await database.read();
  expect(before.get('orders')?.get('17')).toMatchObject({ identifier: 'it\'s "one"', total: 49.9 });
  expect(before.get('mails')?.size).toBe(2);
  change("UPDATE orders SET status = 'paid'; INSERT INTO mails VALUES ('same');");
  const { rows: after } = await database.read(() => change("UPDATE orders SET status = 'later';"));
  // It would wait for a transaction that is still open.
  change('DROP TABLE mails;');
  return changesBetween(before, after);
}

const CHANGES = [
  expect.objectContaining({ table: 'orders', key: '17', column: 'status', from: 'pending', to: 'paid' }),
  expect.objectContaining({ table: 'mails', column: '*', from: null, to: 'a row' }),
];

/**
 * Changes all rows some hundred times a second until it is stopped, and prints why it could not. It waits for no lock.
 * Without a break, it would leave no moment to copy on a machine with one core.
 */
const WRITER = `
import signal, sqlite3, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit())
db = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
db.execute(f'PRAGMA journal_mode = {sys.argv[2]}')
db.execute('CREATE TABLE orders (id INTEGER PRIMARY KEY, version INTEGER, body TEXT)')
db.executemany("INSERT INTO orders (version, body) VALUES (0, ?)", 20 * [('x' * 1000,)])
print('writing', flush=True)
while True:
    try:
        db.execute('UPDATE orders SET version = version + 1')
        time.sleep(0.002)
    except sqlite3.OperationalError as error:
        print(error, flush=True)
`;

/** Writes a part of a transaction to the file, and crashes. */
const INTERRUPTED = `
import os, sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('CREATE TABLE orders (status TEXT, body TEXT)')
db.executemany("INSERT INTO orders VALUES ('pending', ?)", 20 * [('x' * 1000,)])
db.execute('PRAGMA cache_size = 1')
db.execute('BEGIN')
db.execute("UPDATE orders SET status = 'paid'")
os._exit(0)
`;

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

const unlessMissing = (program: string) =>
  isInstalled(program) ? '' : ` (not tried here: ${program} is missing)`;

describe.skipIf(!isInstalled('sqlite3'))(`SQLite${unlessMissing('sqlite3')}`, () => {
  it('is read', async () => {
    const file = join(await temporaryFolder(), 'shop.db');
    const change = (sql: string) => execFileSync('sqlite3', [file], { input: sql });
    expect(await changed(`sqlite:${file}`, change)).toEqual(expect.arrayContaining(CHANGES));
  });

  it.skipIf(!isInstalled('python3')).each(['delete', 'persist', 'wal'])(
    `is read without a lock, in whole transactions, while a program writes (journal_mode %s)${unlessMissing('python3')}`,
    async (mode) => {
      const folder = await temporaryFolder();
      const file = join(folder, 'shop.db');
      const writer = launchProgram(['python3', '-c', WRITER, file, mode], { cwd: folder });
      await writer.until((stdout) => stdout.includes('writing'));
      const database = open({ db: `sqlite:${file}` });
      for (let count = 0; count < 10; count++) {
        const rows = [...((await database.read()).rows.get('orders')?.values() ?? [])];
        expect(new Set(rows.map(({ version }) => version)).size).toBe(1);
      }
      writer.child.kill('SIGTERM');
      expect(await writer.ended).toMatchObject({ stdout: 'writing\n', stderr: '' });
    },
  );

  it.skipIf(!isInstalled('python3'))(
    `is read as before an interrupted transaction, which is left to the shop${unlessMissing('python3')}`,
    async () => {
      const folder = await temporaryFolder();
      const file = join(folder, 'shop.db');
      execFileSync('python3', ['-c', INTERRUPTED, file]);
      const files = () => Promise.all(['', '-journal'].map((suffix) => readFile(file + suffix)));
      const before = await files();
      const rows = [...((await open({ db: `sqlite:${file}` }).read()).rows.get('orders')?.values() ?? [])];
      expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['pending']));
      expect(await files()).toEqual(before);
      expect(await readdir(folder)).toHaveLength(2);
    },
  );

  it('is only data: a table whose name has a line break, and rows that are alike', async () => {
    const file = join(await temporaryFolder(), 'shop.db');
    const name = `a
.shell touch "${file}.run"
b`;
    const input = `CREATE TABLE [${name}] (x); INSERT INTO [${name}] VALUES ('same'), ('same');`;
    execFileSync('sqlite3', [file], { input });
    expect((await open({ db: `sqlite:${file}` }).read()).rows.get(name)?.size).toBe(2);
    expect(existsSync(`${file}.run`)).toBe(false);
  });

  it('is read by one client, which is started again if it dies, and ends with the database', async () => {
    const folder = await temporaryFolder();
    const [file, log] = [join(folder, 'shop.db'), join(folder, 'log')];
    const client = execFileSync('which', ['sqlite3'], { encoding: 'utf8' }).trim();
    await writeFile(join(folder, 'sqlite3'), `#!/bin/sh\necho $$ >> ${log}\nexec ${client} "$@"\n`, {
      mode: 0o755,
    });
    execFileSync('sqlite3', [file], { input: SQL });
    onTestFinished(() => void vi.unstubAllEnvs());
    vi.stubEnv('PATH', `${folder}:${process.env['PATH']}`);
    const database = open({ db: `sqlite:${file}` });
    onTestFinished(() => database.close());
    const readBy = async () => {
      expect((await database.read()).rows.get('orders')?.size).toBe(1);
      return (await readFile(log, 'utf8')).trim().split('\n').map(Number);
    };
    await readBy();
    const [first = 0, ...others] = await readBy();
    expect(others).toEqual([]);
    process.kill(first, 'SIGKILL');
    const [, second = 0] = await readBy();
    await database.close();
    await expect.poll(() => isRunning(second)).toBe(false);
    await expect(database.read()).rejects.toThrow('it is closed');
  });

  it('that does not exist is not created', async () => {
    await expect(open({ db: 'sqlite:/nowhere/shop.db' }).read()).rejects.toThrow('no such file');
  });
});

describe.skipIf(!isInstalled('postgres'))(`PostgreSQL${unlessMissing('postgres')}`, () => {
  it('is read, with JSON of any depth, lists, types of its own and names that need quoting', async () => {
    const { db, run } = await startPostgres();
    expect(await changed(db, run)).toEqual(expect.arrayContaining(CHANGES));
    // Only the host that was checked is connected, whatever else names one.
    onTestFinished(() => void vi.unstubAllEnvs());
    const elsewhere = '192.0.2.1';
    const services = await temporaryFolder({ 'services.conf': `[elsewhere]\nhostaddr=${elsewhere}\n` });
    vi.stubEnv('PGHOSTADDR', elsewhere);
    vi.stubEnv('PGSERVICEFILE', join(services, 'services.conf'));
    vi.stubEnv('PGSERVICE', 'elsewhere');
    expect((await open({ db }).read()).rows.size).toBe(1);
    vi.unstubAllEnvs();
    run(`CREATE TYPE size AS (x INT, meta JSON);
      CREATE TABLE "odd ""name" (id INT PRIMARY KEY, "j""1" JSONB, j2 JSON, l TEXT[], s size, b BYTEA, n NUMERIC, f BOOL, at TIMESTAMP);
      INSERT INTO "odd ""name" VALUES (1, (repeat('[', 6000) || repeat(']', 6000))::jsonb, '{"a":\n 1}', '{a,b}', '(1,{})', '\\x00ff', 49.90, true, '2026-05-01 09:30');`);
    const database = open({ db });
    const { rows: before } = await database.read();
    expect(before.get('odd "name')?.get('1')).toEqual({
      ...{ id: 1, 'j"1': '['.repeat(6000) + ']'.repeat(6000), j2: '{"a":\n 1}', l: '{a,b}', s: '(1,{})' },
      ...{ b: '\\x00ff', n: 49.9, f: true, at: '2026-05-01T09:30:00' },
    });
    run(`UPDATE "odd ""name" SET "j""1" = '[]'`);
    expect(changesBetween(before, (await database.read()).rows)).toMatchObject([{ column: 'j"1', to: '[]' }]);
  });
});

describe.skipIf(!isInstalled('mariadbd'))(`MariaDB${unlessMissing('mariadbd')}`, () => {
  it('is read, as of the moment that is told, also without transactions, with bytes and names that need quoting', async () => {
    const { db, run } = await startMariaDb();
    expect(await changed(db, run)).toEqual(expect.arrayContaining(CHANGES));
    run(
      "CREATE TABLE carts (id INT PRIMARY KEY, status TEXT) ENGINE = MyISAM; INSERT INTO carts VALUES (1, 'pending');",
    );
    const database = open({ db });
    onTestFinished(() => database.close());
    const { rows: carts } = await database.read(() => run("UPDATE carts SET status = 'paid';"));
    expect(carts.get('carts')?.get('1')).toEqual({ id: 1, status: 'pending' });
    run(`CREATE TABLE \`odd\`\`name 'x' \\ y\` (k1 INT, k2 INT, \`a"b'c\` TEXT, b BLOB, f BIT(3), j JSON, PRIMARY KEY (k1, k2));
      INSERT INTO \`odd\`\`name 'x' \\ y\` VALUES (1, 2, 'a\\tb\\n\\0🎉', x'ff00fe22', b'101', '{"a":\\n [1]}');`);
    const { rows } = await open({ db }).read();
    expect([...(rows.get("odd`name 'x' \\ y") ?? [])]).toEqual([
      ['1, 2', { k1: 1, k2: 2, 'a"b\'c': 'a\tb\n\0🎉', b: 'FF00FE22', f: '5', j: '{"a":\n [1]}' }],
    ]);
  });
});

const hasNone = !isInstalled('mysql') && !isInstalled('mariadb');

describe.skipIf(!hasNone)(
  `MySQL without its client${hasNone ? '' : ' (not tried here: it is installed)'}`,
  () => {
    it('names the package', async () => {
      await expect(open({ db: 'mysql://root@127.0.0.1/shop' }).read()).rejects.toThrow(
        'mysql or mariadb is not installed. Install the package mariadb-client or mysql-client',
      );
    });
  },
);
