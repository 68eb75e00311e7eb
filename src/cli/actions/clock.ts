import type { Clock, ClockInput } from '../../contract/clock.ts';
import type { Actions } from '../commands/clock.ts';
import { pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';

type Context = Parameters<Actions['advance']>[0];

/** How often it is said what a move waits for, in real time. */
const SAY_EVERY_MS = 1_000;

export const show: Actions['show'] = async ({ call }) => shown(await call('GET /clock'));

export const advance: Actions['advance'] = ({ args: [duration], ...context }) =>
  move({ advance: duration, timeout: context.options.timeout }, context);

export const freeze: Actions['freeze'] = ({ args: [time = 'now'], ...context }) =>
  move({ freeze: time, timeout: context.options.timeout }, context);

export const resume: Actions['resume'] = async ({ call }) =>
  shown(await call('POST /clock', { json: { resume: true } }));

/** Moves the clock; what takes long, such as a receiver that never answers, is said while it does. */
async function move(json: ClockInput, { call, output }: Pick<Context, 'call' | 'output'>) {
  let isMoving = true;
  const say = async () => {
    const waiting = await describeWait(call);
    if (waiting !== null && isMoving) output.notice(`gateway-sim: ${waiting}`);
  };
  const timer = setInterval(() => void say().catch(() => {}), SAY_EVERY_MS);
  try {
    return shown(await call('POST /clock', { json }));
  } finally {
    isMoving = false;
    clearInterval(timer);
  }
}

/** Whose answers a moving clock waits for; null when it waits for none. */
async function describeWait(call: Context['call']): Promise<string | null> {
  const { now } = await call('GET /clock');
  const { data } = await call('GET /ipns', { query: { state: 'pending', limit: 100 } });
  const due = data.filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt <= now);
  const [first] = due;
  if (!first) return null;
  const more = due.length > 1 ? ` and ${due.length - 1} more` : '';
  return `the clock is at ${now} and waits for ${first.url} to answer IPN ${first.id}, attempt ${first.attempts.length + 1}${more}`;
}

function shown(clock: Clock): CommandResult {
  const text = pairs({
    Time: `${clock.now}${clock.frozen ? '  (frozen)' : ''}`,
    Ahead: `${Math.round(clock.aheadMs / 1_000)} s of real time`,
    'Next due': clock.nextDue ?? 'nothing scheduled',
  });
  return { json: clock, text };
}
