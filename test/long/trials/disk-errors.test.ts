import { BEGINNINGS, type Beginning, reopen, type Strike, session } from '../disk-session.ts';
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

async function failOnce(strike: Strike, budget: Budget): Promise<boolean> {
  const [first, ...others] = Object.keys(BEGINNINGS) as [Beginning, ...Beginning[]];
  const beginning = oneOf([first, ...others], budget);
  const args = oneOf([[], ['--fsync']], budget);
  const done = await session({ beginning, args, isSlow: budget.below(4) === 0 }, strike, budget);
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
