import { cp, mkdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startBinary } from '../../helpers/binary.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { Ledger } from '../ledger.ts';
import { Merchant } from '../merchant.ts';
import { type Budget, type Failure, trial } from '../trial.ts';

type Emulator = Awaited<ReturnType<typeof startBinary>>;

/** A change to the folder of a running emulator. */
interface Loss {
  /** @param data the folder, or a link to it */
  lose: (data: string) => Promise<void>;
  isLink?: true;
  /** The path of the earlier state after the change. */
  kept?: string;
  /** Whether another emulator can start in the path afterwards. */
  isFree: boolean;
}

const GONE = /was removed, moved or replaced while gateway-sim was using it/g;

const SLOW_SYNCS = fileURLToPath(new URL('../slow-syncs.cjs', import.meta.url));
/** Longer than a start, so that the next emulator runs before a delayed wait ends. */
const DELAY_MS = 2_000;

const journal = (data: string) => join(data, 'journal.jsonl');

const LOSSES: Record<string, Loss> = {
  'the folder is removed': { lose: (data) => rm(data, { recursive: true, maxRetries: 20 }), isFree: true },
  'the folder is moved': {
    lose: (data) => rename(data, `${data}-kept`),
    kept: '.gateway-sim-kept',
    isFree: true,
  },
  'it is replaced by a copy': {
    lose: async (data) => {
      await rename(data, `${data}-kept`);
      await cp(`${data}-kept`, data, { recursive: true });
    },
    kept: '.gateway-sim-kept',
    isFree: false,
  },
  'its link points to another folder': {
    lose: async (data) => {
      await mkdir(`${data}-other`);
      await rm(data);
      await symlink(`${data}-other`, data);
    },
    isLink: true,
    kept: '.gateway-sim-kept',
    isFree: true,
  },
  'the journal is removed': { lose: (data) => rm(journal(data)), isFree: false },
  'the journal is replaced': {
    lose: async (data) => {
      await cp(journal(data), `${journal(data)}-copy`);
      await rename(`${journal(data)}-copy`, journal(data));
    },
    isFree: false,
  },
  'the lock is removed': { lose: (data) => rm(join(data, 'lock')), kept: '.gateway-sim', isFree: true },
};

/** The content of the files that only their owner changes, except the journal, which changes by itself. */
const marksOf = async (data: string) => {
  const files = await Promise.all(
    ['lock', 'server.json', '.gitignore'].map((name) => readFile(join(data, name), 'utf8').catch(() => name)),
  );
  return files.join('\n');
};

/** One case. Its failures name the change to the folder. */
class Case {
  readonly cwd: string;
  readonly args: readonly string[];
  readonly #what: string;
  readonly #budget: Budget;

  constructor(what: string, cwd: string, budget: Budget) {
    this.cwd = cwd;
    this.args = budget.below(2) ? ['--quiet', '--fsync'] : ['--quiet'];
    this.#what = what;
    this.#budget = budget;
  }

  fail(kind: Failure, text: string): void {
    this.#budget.fail(kind, `${this.#what}: ${text}`);
  }

  /** @param delayMs by how much its waits for the disk may be delayed */
  start(folder = '.gateway-sim', delayMs = 0): Promise<Emulator> {
    const env = { NODE_OPTIONS: `--require=${SLOW_SYNCS}`, SYNC_DELAY_MS: String(delayMs) };
    return startBinary([...this.args, '--data-dir', folder], { cwd: this.cwd, ...(delayMs && { env }) });
  }

  merchant({ ready }: Emulator, ledger = new Ledger()): Merchant {
    return new Merchant(ready, ledger, this.#budget);
  }

  expectHeld(emulator: Emulator, ledger: Ledger, when: string): Promise<void> {
    return this.merchant(emulator, ledger).expectNothingLost(`${this.#what}: ${when}`);
  }

  /** Kills the emulator, if any, and checks that the next one has every acknowledged change. */
  async expectKept(folder: string, ledger: Ledger, when: string, first?: Emulator): Promise<void> {
    first?.child.kill('SIGKILL');
    await first?.ended;
    const next = await this.start(folder);
    await this.expectHeld(next, ledger, when);
    next.child.kill('SIGKILL');
    await next.ended;
  }
}

/** Changes the folder of an emulator under load. The emulator must detect this before its next response. */
async function takeAway(tried: Case, first: Emulator, data: string, { lose }: Loss, afterMs: number) {
  const before = new Ledger();
  let isOver = false;
  const merchant = tried.merchant(first, before);
  const work = Promise.all(['a', 'b', 'c'].map((name) => merchant.work(name, () => isOver)));
  await sleep(afterMs);
  await lose(data);
  const nowhere = new Ledger();
  const status = await tried.merchant(first, nowhere).initiate('into-nowhere');
  if (status !== 507) tried.fail('lost', `a change that could not be stored was answered with ${status}`);
  isOver = true;
  await work;
  await tried.expectHeld(first, nowhere, 'rejected changes');
  if (first.stderr().match(GONE)?.length !== 1)
    tried.fail('other', `not reported exactly once: ${first.stderr()}`);
  return before;
}

async function oneCase(what: string, loss: Loss, budget: Budget): Promise<void> {
  const cwd = await temporaryFolder();
  const data = join(cwd, '.gateway-sim');
  if (loss.isLink) {
    await mkdir(`${data}-kept`);
    await symlink(`${data}-kept`, data);
  }
  const tried = new Case(what, cwd, budget);
  const first = await tried.start();
  const before = await takeAway(tried, first, data, loss, budget.below(150));
  const second = loss.isFree ? await tried.start() : undefined;
  const ofSecond = new Ledger();
  if (second) await tried.merchant(second, ofSecond).initiate('of-the-second');
  const marks = second && (await marksOf(data));
  await tried.merchant(first).initiate('once-more');
  first.child.kill(budget.below(2) ? 'SIGTERM' : 'SIGKILL');
  const { stderr } = await first.ended;
  if (/^\s+at /m.test(stderr)) tried.fail('ended', stderr);
  if (second) {
    if (marks !== (await marksOf(data))) tried.fail('lost', 'the files of the second emulator changed');
    await tried.expectHeld(second, ofSecond, 'the second emulator');
    await tried.expectKept('.gateway-sim', ofSecond, 'the second emulator, killed', second);
  }
  if (loss.kept) await tried.expectKept(loss.kept, before, 'acknowledged changes');
  await rm(cwd, { recursive: true, maxRetries: 10 });
}

/** The folder is lost while its emulator, whose disk is slow, writes a snapshot. The next one may be just as slow. */
async function slowCase(what: string, { lose }: Loss, budget: Budget): Promise<void> {
  const cwd = await temporaryFolder();
  const data = join(cwd, '.gateway-sim');
  const tried = new Case(`${what} during a slow snapshot`, cwd, budget);
  const first = await tried.start('.gateway-sim', DELAY_MS);
  await tried.merchant(first).initiate('of-the-first');
  // Replaces the state, which is written as a snapshot immediately.
  const written = tried.merchant(first).restore();
  await sleep(budget.below(2 * DELAY_MS));
  await lose(data);
  const isSlow = budget.below(2) === 1;
  const second = await tried.start('.gateway-sim', isSlow ? DELAY_MS : 0);
  const ledger = new Ledger();
  const merchant = tried.merchant(second, ledger);
  await merchant.initiate('second-1');
  await merchant.approve('second-1');
  await merchant.restore();
  await written;
  await merchant.initiate('second-2');
  first.child.kill('SIGTERM');
  const { stderr } = await first.ended;
  if (/^\s+at /m.test(stderr)) tried.fail('ended', stderr);
  if (second.stderr()) tried.fail('lost', `the second emulator was disturbed: ${second.stderr()}`);
  await tried.expectKept('.gateway-sim', ledger, 'the second emulator, killed', second);
  await rm(cwd, { recursive: true, maxRetries: 10 });
}

/** Afterwards, the next emulator has a folder with the same path, or the same folder. */
const SLOW = ['the folder is moved', 'the folder is removed', 'the lock is removed'];

trial('removed and replaced data folders', { short: 2, least: 100, share: 4 }, async (budget) => {
  const losses = Object.entries(LOSSES);
  const first = budget.below(losses.length);
  await budget.repeat(async (number) => {
    const [what, loss] = losses[(first + number) % losses.length] ?? [];
    if (what && loss) await oneCase(what, loss, budget);
  }, 2);
});

trial(
  'data folders that are replaced while the disk is slow',
  { short: 2, least: 50, share: 4 },
  async (budget) => {
    await budget.repeat(async (number) => {
      const what = SLOW[number % SLOW.length] ?? '';
      const loss = LOSSES[what];
      if (loss) await slowCase(what, loss, budget);
    }, 6);
  },
);
