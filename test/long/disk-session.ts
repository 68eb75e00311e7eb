import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ReadyEvent } from '../../src/cli/banner.ts';
import { initiate } from '../../src/domain/payment.ts';
import { DataFolder } from '../../src/store/folder.ts';
import { emptySnapshot, type Snapshot } from '../../src/store/snapshot.ts';
import { Store } from '../../src/store/store.ts';
import { launch } from '../helpers/binary.ts';
import type { Finished } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { context, input, records, wallet } from '../helpers/records.ts';
import { Ledger } from './ledger.ts';
import { Merchant } from './merchant.ts';
import type { Budget } from './trial.ts';

const PRELOAD = fileURLToPath(new URL('disk-faults.cjs', import.meta.url));
/** A session takes half a second. */
const HANGS_MS = 30_000;

/** A fault at a file system call; see disk-faults.cjs. */
export interface Strike {
  at: number;
  how: 'fail' | 'short';
  error: string;
  lasting: boolean;
}

async function emptied(data: string): Promise<Store> {
  await mkdir(data);
  return Store.open({ folder: data, fsync: false }, async () => records());
}

/** Functions that fill a session's folder and return the state in it. */
export const BEGINNINGS = {
  'a new folder': async () => undefined,
  'a folder left by a kill': async (data) => {
    const before = `${data}-before`;
    const store = await emptied(before);
    const using = context();
    for (const identifier of ['old-1', 'old-2'])
      await store.commit((state) => initiate(state, input({ identifier }), 'sandbox', using));
    await cp(before, data, { recursive: true });
    await store.close();
    return store.snapshot();
  },
  'a folder with an edited db.json': async (data) => {
    await (await emptied(data)).close();
    await writeFile(join(data, 'db.json'), JSON.stringify(records()));
    return records();
  },
} satisfies Record<string, (data: string) => Promise<Snapshot | undefined>>;
export type Beginning = keyof typeof BEGINNINGS;

/** What a session does between its start and its stop. */
interface Script {
  beginning: Beginning;
  args: readonly string[];
  /** Whether it waits for the snapshot that follows a second after a change. */
  isSlow: boolean;
}

/** The result of a session with a fault. */
interface Session {
  cwd: string;
  /** Whether the session created the folder. */
  isNew: boolean;
  ledger: Ledger;
  finished: Finished;
  /** The name of the call with the fault; undefined if the session made fewer calls. */
  struck: string | undefined;
}

/** Starts an emulator, makes it store every kind of change, and stops it. */
export async function session(
  { beginning, args, isSlow }: Script,
  strike: Strike,
  budget: Budget,
): Promise<Session> {
  const cwd = await temporaryFolder();
  const folder = join(cwd, '.gateway-sim');
  const ledger = new Ledger();
  ledger.all((await BEGINNINGS[beginning](folder)) ?? emptySnapshot());
  const reached = join(cwd, 'struck');
  const env = {
    DISK_FAULT: JSON.stringify({ folder, reached, ...strike }),
    NODE_OPTIONS: `--require=${PRELOAD}`,
  };
  const emulator = launch(['start', '--port', '0', '--json', '--quiet', ...args], { cwd, env });
  const hang = setTimeout(() => {
    budget.fail('hang', `${beginning}, ${args.join(' ')}, ${JSON.stringify(strike)}`);
    emulator.child.kill('SIGKILL');
  }, HANGS_MS);
  await emulator
    .until((stdout) => stdout.includes('\n'))
    .then(
      async () => {
        const merchant = new Merchant(JSON.parse(emulator.stdout()) as ReadyEvent, ledger, budget);
        await shop(merchant);
        if (!isSlow) return;
        await Promise.race([newSnapshot(join(folder, 'db.json')), emulator.ended]);
        await merchant.initiate('new-5');
      },
      () => {},
    );
  emulator.child.kill('SIGTERM');
  const finished = await emulator.ended;
  clearTimeout(hang);
  const struck = existsSync(reached) ? await readFile(reached, 'utf8') : undefined;
  return { cwd, isNew: beginning === 'a new folder', ledger, finished, struck };
}

async function shop(merchant: Merchant): Promise<void> {
  await merchant.initiate('new-1');
  await merchant.approve('new-1');
  await merchant.initiate('new-2', 'live');
  await merchant.approve('new-2');
  await merchant.card();
  await merchant.list();
  await merchant.restore();
  await Promise.all([merchant.initiate('new-3'), merchant.initiate('new-4')]);
  await merchant.list();
}

/** Waits until db.json is replaced, but not longer than this can take. */
async function newSnapshot(path: string): Promise<void> {
  const inode = async () => (await stat(path).catch(() => undefined))?.ino;
  const before = await inode();
  for (let checks = 0; checks < 60 && (await inode()) === before; checks++) await sleep(25);
}

/** Opens the folder of a session twice, with a change in between, and removes it. */
export async function reopen({ cwd, isNew, ledger }: Session): Promise<string[]> {
  const folder = join(cwd, '.gateway-sim');
  const lost: string[] = [];
  for (const id of ['next', 'last']) {
    const owned = await DataFolder.acquire(folder);
    const store = await Store.open({ folder, fsync: false, assertOurs: owned.assertOurs }, async () =>
      records(),
    );
    lost.push(...ledger.lostIn(store.snapshot()));
    if (isNew && !existsSync(join(folder, '.gitignore'))) lost.push('the folder has no .gitignore');
    if (id === 'last' && !store.state.wallets.get('next')) lost.push('a change after the fault is missing');
    await store.commit(() => ({ change: { wallets: [wallet({ id })] }, result: null }));
    await store.close();
    await owned.release();
  }
  await rm(cwd, { recursive: true, maxRetries: 10 });
  return lost;
}
