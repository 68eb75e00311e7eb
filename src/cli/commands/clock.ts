import type { Clock, ClockInput } from '../../contract/clock.ts';
import { CLOCK_FIELDS, phraseOf } from '../../contract/request-fields.ts';
import { type Context, defineCommand, type Group, text } from '../command.ts';
import { type CommandResult, pairs } from '../output.ts';

const TIMEOUT = {
  timeout: text(
    CLOCK_FIELDS.timeout.placeholder,
    `${phraseOf(CLOCK_FIELDS.timeout)}; exits with code 4 when reached`,
  ),
};

/** How often a move reports what it waits for, in real time. */
const SAY_EVERY_MS = 1_000;

const show = defineCommand({
  summary: "show the emulator's time and what is due next",
  run: async ({ call }) => shown(await call('GET /clock')),
});

const advance = defineCommand({
  args: ['<duration>'],
  summary: 'move the clock forward and run everything that falls due',
  // The emulator explains a negative duration; commander would call it an unknown option.
  allowUnknown: true,
  options: TIMEOUT,
  examples: ['clock advance 2h', 'clock advance 2h --timeout 10s'],
  run: (context) => move({ advance: context.args[0], timeout: context.options.timeout }, context),
});

const freeze = defineCommand({
  args: ['[time]'],
  summary: 'pause the clock, now or at a future time',
  options: TIMEOUT,
  examples: ['clock freeze', 'clock freeze 2030-01-01T00:00:00Z'],
  run: (context) => move({ freeze: context.args[0] ?? 'now', timeout: context.options.timeout }, context),
});

const resume = defineCommand({
  summary: 'resume the clock from its current time',
  run: async ({ call }) => shown(await call('POST /clock', { json: { resume: true } })),
});

const reset = defineCommand({
  summary: "return to the system's time",
  run: async ({ call }) => shown(await call('POST /clock', { json: { reset: true } })),
});

/** Moves the clock and reports what it waits for, such as a receiver that never responds. */
async function move(json: ClockInput, { call, output }: Pick<Context, 'call' | 'output'>) {
  let isMoving = true;
  const reportWait = async () => {
    const { now } = await call('GET /clock');
    const { data } = await call('GET /ipns', { query: { state: 'pending', limit: 100 } });
    const due = data.filter(({ nextAttemptAt }) => nextAttemptAt !== null && nextAttemptAt <= now);
    const [first] = due;
    if (!first || !isMoving) return;
    const { url, id, attempts } = first;
    const more = due.length > 1 ? ` and ${due.length - 1} more` : '';
    output.notice(
      `gateway-sim: the clock is at ${now} and is waiting for ${url} to respond to IPN ${id}, attempt ${attempts.length + 1}${more}`,
    );
  };
  const timer = setInterval(() => void reportWait().catch(() => {}), SAY_EVERY_MS);
  try {
    return shown(await call('POST /clock', { json }));
  } finally {
    isMoving = false;
    clearInterval(timer);
  }
}

function shown(clock: Clock): CommandResult {
  const seconds = Math.round(clock.aheadMs / 1_000);
  const text = pairs({
    Time: `${clock.now}${clock.frozen ? '  (frozen)' : ''}`,
    Offset: `${Math.abs(seconds)} s ${seconds < 0 ? 'behind' : 'ahead of'} real time`,
    'Next due': clock.nextDue ?? 'nothing scheduled',
  });
  return { json: clock, text };
}

export const clock: Group = {
  summary: "show and move the emulator's clock",
  examples: ['clock', 'clock advance 2h'],
  commands: { show, advance, freeze, resume, reset },
};
