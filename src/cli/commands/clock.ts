import type { Clock } from '../../contract/clock.ts';
import { CLOCK_FIELDS, phraseOf } from '../../contract/request-fields.ts';
import { defineCommand, type Group, text } from '../command.ts';
import { type CommandResult, pairs } from '../output.ts';

const TIMEOUT = {
  timeout: text(
    CLOCK_FIELDS.timeout.placeholder,
    `${phraseOf(CLOCK_FIELDS.timeout)}; exits with code 4 when reached`,
  ),
};

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
  run: async ({ args: [advance], options: { timeout }, call }) =>
    shown(await call('POST /clock', { json: { advance, timeout } })),
});

const freeze = defineCommand({
  args: ['[time]'],
  summary: 'pause the clock, now or at a future time',
  options: TIMEOUT,
  examples: ['clock freeze', 'clock freeze 2030-01-01T00:00:00Z'],
  run: async ({ args: [freeze = 'now'], options: { timeout }, call }) =>
    shown(await call('POST /clock', { json: { freeze, timeout } })),
});

const resume = defineCommand({
  summary: 'resume the clock from its current time',
  run: async ({ call }) => shown(await call('POST /clock', { json: { resume: true } })),
});

const reset = defineCommand({
  summary: "return to the system's time",
  run: async ({ call }) => shown(await call('POST /clock', { json: { reset: true } })),
});

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
