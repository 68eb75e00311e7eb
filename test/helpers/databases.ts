import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { SECRET } from '../merchants/node-shop.ts';
import { launchProgram } from './child.ts';

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
