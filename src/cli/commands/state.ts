import { type ActionsOf, type Declarations, flag, group } from '../command.ts';

const YES = { yes: flag('do not ask (without a terminal it never asks)') };

const COMMANDS = {
  reset: {
    summary: 'reset to the fixtures; merchants keep their keys',
    neverGuess: true,
    options: YES,
    about:
      '\nWhere no emulator runs, the state of the data folder is put aside, in a folder inside it, and the next start\nmakes a new one. This also helps when the state is damaged.',
    examples: ['state reset', 'state reset --yes --data-dir .gateway-sim'],
  },
  export: {
    args: ['<file>'],
    summary: 'write the whole state to a file; - is stdout',
    options: { force: flag('write over a file that is no state') },
    examples: ['state export paid-orders.json', 'state export - >paid-orders.json'],
  },
  import: {
    args: ['<file>'],
    summary: 'replace the present state with that of a file; - is stdin',
    neverGuess: true,
    options: YES,
    examples: ['state import paid-orders.json'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const state = group({
  name: 'state',
  summary: 'the whole state: reset, out and in',
  examples: ['state export paid-orders.json', 'state reset'],
  commands: COMMANDS,
  load: () => import('../actions/state.ts'),
});
