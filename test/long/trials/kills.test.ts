import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Snapshot } from '../../../src/store/snapshot.ts';
import { launch, startBinary } from '../../helpers/binary.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { startReceiver } from '../../helpers/receiver.ts';
import { Ledger } from '../ledger.ts';
import { Merchant } from '../merchant.ts';
import { type Budget, trial } from '../trial.ts';

/** Folders that are tested at the same time. */
const LANES = 3;
/** Kills per folder, so that one folder goes through many starts and snapshots. */
const KILLS = 8;
/** Concurrent users of one emulator. */
const SHOPPERS = 4;

/** Records so large that snapshots are written under load. `--loose` allows details of any length. */
const FAT = { args: ['--loose'], details: 'x'.repeat(400_000) };
const VARIANTS = [
  { args: [] },
  { args: ['--fsync'] },
  FAT,
  { args: ['--fsync', ...FAT.args], details: FAT.details },
];

type Emulator = Awaited<ReturnType<typeof startBinary>>;

interface Life {
  cwd: string;
  args: readonly string[];
  details?: string;
  ledger: Ledger;
  ipnUrl: string;
}

/** Starts an emulator. @returns undefined if it does not start, which is recorded as a failure */
async function start({ cwd, args }: Life, budget: Budget): Promise<Emulator | undefined> {
  return startBinary([...args, '--quiet'], { cwd }).catch((error: Error) => {
    budget.fail('ended', `no start with ${args.join(' ')}: ${error.message}`);
    return undefined;
  });
}

/** Kills an emulator. It must not have reported an internal error before. */
async function kill({ child, ended }: Emulator, budget: Budget): Promise<void> {
  child.kill('SIGKILL');
  const { stderr } = await ended;
  if (/^\s+at |internal error|bug in gateway-sim/m.test(stderr)) budget.fail('ended', stderr.slice(0, 500));
}

/** Starts an emulator, sends changes to it, and kills it. @returns false if it did not start */
async function live(life: Life, run: number, budget: Budget): Promise<boolean> {
  const emulator = await start(life, budget);
  if (!emulator) return false;
  const merchant = new Merchant(emulator.ready, life.ledger, budget, life.ipnUrl);
  await merchant.expectNothingLost(`kill ${run} with ${life.args.join(' ')}`);
  let isOver = false;
  const shoppers = Array.from({ length: SHOPPERS }, (_, shopper) =>
    merchant.work(`run${run}-${shopper}`, () => isOver, life.details),
  );
  await sleep(budget.below(200));
  if (run % 4 === 1) {
    // During the snapshot of a stop.
    emulator.child.kill('SIGTERM');
    await sleep(budget.below(40));
  } else if (run % 4 === 3) {
    // During the snapshot that is written a second after the last change.
    isOver = true;
    await Promise.all(shoppers);
    await sleep(980 + budget.below(50));
  }
  await kill(emulator, budget);
  isOver = true;
  await Promise.all(shoppers);
  budget.cases();
  return true;
}

/** Kills an emulator before it prints that it is ready. */
async function killStart(life: Life, budget: Budget): Promise<void> {
  const emulator = launch(['start', '--port', '0', '--quiet', ...life.args], { cwd: life.cwd });
  await sleep(60 + budget.below(100));
  emulator.child.kill('SIGKILL');
  await emulator.ended;
  budget.cases();
}

/** Checks that the IPN of every succeeded payment arrives, and that a stop writes everything to db.json. */
async function end(life: Life, arrived: ReadonlySet<string>, budget: Budget): Promise<void> {
  const emulator = await start(life, budget);
  if (!emulator) return;
  const merchant = new Merchant(emulator.ready, life.ledger, budget, life.ipnUrl);
  await merchant.expectNothingLost('at the end');
  await merchant.post('/_sim/clock', { advance: '1h' });
  const { payments } = await merchant.snapshot();
  const silent = payments.filter(
    ({ status, identifier }) => status === 'succeeded' && !arrived.has(identifier),
  );
  for (const { identifier } of silent.slice(0, 5))
    budget.fail('lost', `the IPN of ${identifier} never arrived`);
  emulator.child.kill('SIGTERM');
  const { code, stderr } = await emulator.ended;
  if (code !== 0) budget.fail('ended', `a stop ended with ${code}: ${stderr}`);
  const text = await readFile(join(life.cwd, '.gateway-sim', 'db.json'), 'utf8');
  const lost = life.ledger.lostIn(JSON.parse(text) as Snapshot);
  for (const problem of lost.slice(0, 5)) budget.fail('lost', `db.json after a stop: ${problem}`);
}

trial('random kills', { short: 6, least: 1_000, share: 13 }, async (budget) => {
  let lives = 0;
  const lane = async () => {
    while (budget.more()) {
      const variant = VARIANTS[lives++ % VARIANTS.length] ?? FAT;
      const arrived = new Set<string>();
      const receiver = await startReceiver(({ body }) => {
        arrived.add(new URLSearchParams(body).get('identifier') ?? '');
        return {};
      });
      const cwd = await temporaryFolder();
      const life: Life = { cwd, ...variant, ledger: new Ledger(), ipnUrl: `${receiver.url}/ipn` };
      for (let run = 0; run < KILLS && budget.more(); run++) {
        if (run % 4 === 2) await killStart(life, budget);
        if (!(await live(life, run, budget))) break;
      }
      await end(life, arrived, budget);
      await receiver.close();
      await rm(cwd, { recursive: true, maxRetries: 10 });
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
});
