import { type ActionsOf, type Declarations, duration, group } from '../command.ts';

const COMMANDS = {
  status: { summary: 'the running emulator' },
  stop: { summary: 'stop the running emulator', neverGuess: true },
  wait: {
    summary: 'wait until the emulator is ready',
    options: { timeout: duration('give up after this long, with exit code 3 (default: 30s)') },
    examples: ['wait', 'wait --timeout 2m --url http://gateway:4477'],
  },
  open: {
    args: ['[what]', '[ref]'],
    choices: ['dashboard', 'checkout'],
    summary: 'open the dashboard, or "checkout" of a payment, in the browser',
    examples: ['open', 'open checkout order-1'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const emulator = group({ commands: COMMANDS, load: () => import('../actions/emulator.ts') });
