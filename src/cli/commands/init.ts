import { type ActionsOf, type Declarations, flag, group, text } from '../command.ts';

const COMMANDS = {
  init: {
    summary: 'write a commented configuration and fixtures to edit',
    options: {
      dir: text('folder', 'folder to write them to (default: this one)'),
      force: flag('write over files that are there'),
    },
    examples: ['init', 'init --dir test/gateway'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const init = group({ commands: COMMANDS, load: () => import('../actions/init.ts') });
