import { BEGINNINGS, type Beginning, reopen, session } from '../disk-session.ts';
import { type Budget, trial } from '../trial.ts';

/** The number of concurrent sessions. */
const LANES = 3;

const HOWS = ['kill', 'half'] as const;

/** Every kind of session. Each is killed at its first call, then at its second, and so on. */
const KINDS = Object.keys(BEGINNINGS).flatMap((beginning) =>
  [[], ['--fsync']].flatMap((args) =>
    // Slow sessions test the snapshot between two changes, which does not depend on the beginning.
    (beginning === 'a new folder' ? [false, true] : [false]).flatMap((isSlow) =>
      HOWS.map((how) => ({ beginning: beginning as Beginning, args, isSlow, how, next: 1, isDone: false })),
    ),
  ),
);
type Kind = (typeof KINDS)[number];

async function killOnce(kind: Kind, at: number, budget: Budget): Promise<void> {
  const { beginning, args, isSlow, how } = kind;
  const done = await session(kind, { at, how }, budget);
  const { finished, struck } = done;
  const where = `${beginning} ${args} ${isSlow}, ${how} at call ${at}, ${struck}`;
  if (struck === undefined) kind.isDone = budget.part === 1;
  else if (finished.signal !== 'SIGKILL') budget.fail('other', `${where}: it ended with ${finished.code}`);
  if (/^\s+at /m.test(finished.stderr)) budget.fail('ended', `${where}: ${finished.stderr}`);
  const lost = await reopen(done).catch((error: Error) => [`it does not open: ${error.message}`]);
  for (const problem of lost) budget.fail('lost', `${where}: ${problem}`);
}

trial('a kill at each disk operation', { short: 6, least: 500, share: 7 }, async (budget) => {
  const isWhole = budget.part === 1;
  const reached = () => KINDS.reduce((total, { next }) => total + next - 1, 0);
  const lane = async () => {
    while (budget.more() || (isWhole && !budget.signal.aborted && KINDS.some(({ isDone }) => !isDone))) {
      const open = KINDS.filter(({ isDone }) => !isDone);
      const kind = open[budget.below(open.length)];
      if (!kind) return;
      const at = isWhole ? kind.next++ : 1 + budget.below(kind.how === 'half' ? 20 : 40);
      await killOnce(kind, at, budget);
      budget.cases();
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  if (isWhole && KINDS.every(({ isDone }) => isDone))
    budget.note(`killed at each of ${reached()} calls in ${KINDS.length} kinds of session`);
});
