import { type ActionsOf, type Declarations, group, text } from '../command.ts';

const TIMEOUT = {
  timeout: text(
    'duration',
    'give up when what falls due takes longer in real time, with exit code 4 (default: 240s)',
  ),
};

const COMMANDS = {
  show: { summary: 'what time it is, and what is due next' },
  advance: {
    args: ['<duration>'],
    summary: 'move forward and run what falls due',
    neverGuess: true,
    // A negative duration is a mistake to be explained, not an unknown option.
    allowUnknown: true,
    options: TIMEOUT,
    examples: ['clock advance 2h', 'clock advance 2h --timeout 10s'],
  },
  freeze: {
    args: ['[time]'],
    summary: 'pause, now or at a time to come',
    neverGuess: true,
    options: TIMEOUT,
    examples: ['clock freeze', 'clock freeze 2030-01-01T00:00:00Z'],
  },
  resume: { summary: 'go on from there', neverGuess: true },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const clock = group({
  name: 'clock',
  summary: 'the time of the emulator',
  examples: ['clock', 'clock advance 2h'],
  commands: COMMANDS,
  load: () => import('../actions/clock.ts'),
});
