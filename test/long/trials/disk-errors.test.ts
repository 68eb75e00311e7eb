import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ReadyEvent } from '../../../src/cli/banner.ts';
import { initiate } from '../../../src/domain/payment.ts';
import { DataFolder } from '../../../src/store/folder.ts';
import { emptySnapshot, type Snapshot } from '../../../src/store/snapshot.ts';
import { Store } from '../../../src/store/store.ts';
import { launch } from '../../helpers/binary.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { context, input, records, wallet } from '../../helpers/records.ts';
import { Ledger } from '../ledger.ts';
import { Merchant } from '../merchant.ts';
import { type Budget, trial } from '../trial.ts';

/** The number of concurrent sessions. */
const LANES = 3;

const ERRORS = ['ENOSPC', 'EIO', 'EDQUOT', 'EACCES', 'EMFILE'] as const;
/** Errors that can occur after half a write. */
const OF_SPACE = new Set<string>(['ENOSPC', 'EDQUOT']);
/** Exit codes: stopped normally, folder cannot be used, state cannot be read. */
const CODES: readonly (number | null)[] = [0, 5, 6];

/** If the disk rejects everything, a write cannot be rolled back either. */
const NOT_ROLLED_BACK = / was rejected, but exists$/;

/** The next call that fails, for each error. */
const NEXT = new Map<string, number>(ERRORS.map((error) => [error, 1]));

const oneOf = <Item>(items: readonly [Item, ...Item[]], budget: Budget): Item =>
  items[budget.below(items.length)] ?? items[0];

const PRELOAD = fileURLToPath(new URL('../disk-faults.cjs', import.meta.url));
/** A session takes half a second. */
const HANGS_MS = 30_000;

/** A fault at a file system call; see disk-faults.cjs. */
interface Strike {
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
const BEGINNINGS = {
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
type Beginning = keyof typeof BEGINNINGS;

/** Starts an emulator, makes it store every kind of change, and stops it. */
async function session(beginning: Beginning, args: readonly string[], strike: Strike, budget: Budget) {
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
        if (budget.below(4)) return;
        // The snapshot that follows a second after a change.
        await Promise.race([newSnapshot(join(folder, 'db.json')), emulator.ended]);
        await merchant.initiate('new-5');
      },
      () => {},
    );
  emulator.child.kill('SIGTERM');
  const finished = await emulator.ended;
  clearTimeout(hang);
  /** The name of the call with the fault; undefined if the session made fewer calls. */
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
async function reopen({ cwd, isNew, ledger }: Awaited<ReturnType<typeof session>>): Promise<string[]> {
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

async function failOnce(strike: Strike, budget: Budget): Promise<boolean> {
  const [first, ...others] = Object.keys(BEGINNINGS) as [Beginning, ...Beginning[]];
  const beginning = oneOf([first, ...others], budget);
  const args = oneOf([[], ['--fsync']], budget);
  const done = await session(beginning, args, strike, budget);
  const { finished, struck } = done;
  const where = `${beginning} ${args.join(' ')}, ${JSON.stringify(strike)}, ${struck}`;
  const { code, stderr } = finished;
  if (/^\s+at /m.test(stderr)) budget.fail('ended', `${where}: a stack: ${stderr}`);
  if (!CODES.includes(code) || (code !== 0 && !stderr.trim()))
    budget.fail('ended', `${where}: it ended with ${code ?? finished.signal}: ${stderr}`);
  const lost = await reopen(done).catch((error: Error) => [`it does not open: ${error.message}`]);
  for (const problem of lost.filter((text) => !(strike.lasting && NOT_ROLLED_BACK.test(text))))
    budget.fail('lost', `${where}: ${problem} (${stderr})`);
  return struck !== undefined;
}

trial('an error at each disk operation', { short: 8, least: 500, share: 8 }, async (budget) => {
  let passes = 0;
  await budget.repeat(async (number) => {
    const error = ERRORS[number % ERRORS.length] ?? 'EIO';
    const next = NEXT.get(error) ?? 1;
    const at = budget.part < 1 ? 1 + budget.below(60) : next;
    NEXT.set(error, next + 1);
    const how: Strike['how'] = OF_SPACE.has(error) && budget.below(2) ? 'short' : 'fail';
    const strike: Strike = { at, how, error, lasting: budget.below(2) === 1 };
    const isStruck = await failOnce(strike, budget);
    if (!isStruck && NEXT.get(error) !== 1) {
      NEXT.set(error, 1);
      passes++;
    }
  }, LANES);
  if (budget.part === 1)
    budget.note(`each call failed with each error at least ${Math.floor(passes / ERRORS.length)} times`);
});
