import { type ActionsOf, type Declarations, group } from '../command.ts';

const COMMANDS = {
  show: { summary: 'what time it is, and what is due next' },
  advance: {
    args: ['<duration>'],
    summary: 'move forward and run what falls due',
    neverGuess: true,
    // A negative duration is a mistake to be explained, not an unknown option.
    allowUnknown: true,
    examples: ['clock advance 2h'],
  },
  freeze: {
    args: ['[time]'],
    summary: 'pause, now or at a time to come',
    neverGuess: true,
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
