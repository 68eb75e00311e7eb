import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { SECRET } from '../merchants/node-shop.ts';
import { launchProgram } from './child.ts';
import { temporaryFolder } from './folder.ts';

/** Whether a program is on this machine. */
export const isInstalled = (program: string) => spawnSync(program, ['--version']).status === 0;

/** What a shop with SQLite needs and this machine lacks; empty if it has everything. */
export const MISSING = ['python3', 'sqlite3'].filter((program) => !isInstalled(program)).join(' and ');

/** Starts a shop whose orders are rows in SQLite. @returns its address */
export async function startSqliteShop(
  cwd: string,
  sim: { url: string; publicKey: string },
  env: Readonly<Record<string, string>>,
) {
  const shop = launchProgram(['python3', join(import.meta.dirname, '../merchants/sqlite-shop.py')], {
    cwd,
    env: {
      DB: join(cwd, 'shop.db'),
      GATEWAY_SIM_SECRET_KEY: SECRET,
      GATEWAY_SIM_PUBLIC_KEY: sim.publicKey,
      GATEWAY_SIM_INITIATE_URL: `${sim.url}/payment/initiate`,
      ...env,
    },
  });
  await shop.until((stdout) => stdout.includes('port '));
  const [, port] = /port (\d+)/.exec(shop.stdout()) ?? [];
  return `http://127.0.0.1:${port}`;
}

/** A database server in a folder of its own, without a port. */
export interface DatabaseServer {
  /** As `--db` takes it. */
  db: string;
  /** As PDO takes it. */
  dsn: string;
  user: string;
  run: (sql: string) => void;
}

const isRoot = process.getuid?.() === 0;

/** A folder that a server of another user can enter, and the way to run it there: neither server runs as root. */
async function folderOf(user: string) {
  const parent = await temporaryFolder();
  const folder = join(parent, 'db');
  await mkdir(folder);
  const as = { cwd: folder, env: { ...process.env, TMPDIR: folder }, stdio: 'ignore' } as const;
  if (!isRoot) return { folder, as };
  for (const each of [dirname(parent), parent]) await chmod(each, 0o711);
  const [uid = 0, gid = 0] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, user])));
  await chown(folder, uid, gid);
  return { folder, as: { ...as, uid, gid } };
}

/** Ends a server at the end of the test. @param answers a command that succeeds when the server is ready */
async function serving(
  server: ReturnType<typeof spawn>,
  signal: 'SIGINT' | 'SIGTERM',
  answers: readonly [string, readonly string[]],
) {
  onTestFinished(async () => {
    // PostgreSQL would wait for its clients at SIGTERM.
    server.kill(signal);
    if (server.exitCode === null) await once(server, 'exit');
  });
  await expect.poll(() => spawnSync(...answers).status, { timeout: 30_000 }).toBe(0);
}

export async function startPostgres(): Promise<DatabaseServer> {
  const { folder, as } = await folderOf('postgres');
  execFileSync('initdb', ['-D', 'data', '-A', 'trust', '-U', 'shop', '--no-sync'], as);
  const settings = ['listen_addresses=', 'fsync=off'].flatMap((one) => ['-c', one]);
  const server = spawn('postgres', ['-D', 'data', '-k', folder, ...settings], as);
  await serving(server, 'SIGINT', ['pg_isready', ['-h', folder]]);
  return {
    db: `postgres://shop@${encodeURIComponent(folder)}/postgres`,
    dsn: `pgsql:host=${folder};dbname=postgres`,
    user: 'shop',
    run: (input) =>
      execFileSync('psql', ['-q', '-h', folder, '-U', 'shop', 'postgres'], {
        input,
        stdio: ['pipe', 'ignore', 'pipe'],
      }),
  };
}

export async function startMariaDb(): Promise<DatabaseServer> {
  const { folder, as } = await folderOf('mysql');
  const socket = join(folder, 'socket');
  const common = ['--no-defaults', `--datadir=${join(folder, 'data')}`];
  execFileSync('mariadb-install-db', [...common, '--auth-root-authentication-method=normal'], as);
  const client = ['--no-defaults', '--user=root', `--socket=${socket}`];
  const settings = [`--socket=${socket}`, '--skip-networking', '--innodb-flush-log-at-trx-commit=0'];
  const server = spawn('mariadbd', [...common, ...settings], as);
  await serving(server, 'SIGTERM', ['mariadb-admin', [...client, 'ping']]);
  const run = (input: string, ...more: readonly string[]) => {
    execFileSync('mariadb', [...client, '--default-character-set=utf8mb4', ...more], { input });
  };
  run('CREATE DATABASE shop CHARACTER SET utf8mb4;');
  return {
    db: `mysql://root@localhost/shop?socket=${socket}`,
    dsn: `mysql:unix_socket=${socket};dbname=shop;charset=utf8mb4`,
    user: 'root',
    run: (sql) => run(sql, 'shop'),
  };
}

/** Starts a shop of plain PHP, with PDO. @param env `LAYOUT` and `FLAW`, see the shop @returns its address */
export async function startPdoShop(
  { dsn, user }: DatabaseServer,
  sim: { url: string; publicKey: string },
  env: Readonly<Record<string, string>>,
) {
  const shop = join(import.meta.dirname, '../merchants/pdo-shop.php');
  const cwd = await temporaryFolder();
  const variables = {
    DSN: dsn,
    DB_USER: user,
    GATEWAY_SIM_SECRET_KEY: SECRET,
    GATEWAY_SIM_PUBLIC_KEY: sim.publicKey,
    GATEWAY_SIM_INITIATE_URL: `${sim.url}/payment/initiate`,
    PHP_CLI_SERVER_WORKERS: '4',
    ...env,
  };
  execFileSync('php', [shop], { env: { ...process.env, ...variables } });
  const server = launchProgram(['php', '-S', '127.0.0.1:0', shop], { cwd, env: variables });
  const started = /Server \(http:\/\/(.*)\) started/;
  await server.until((_, stderr) => started.test(stderr));
  return `http://${started.exec(server.stderr())?.[1]}`;
}
