import { type Declarations, flag, group, text } from '../command.ts';

export const COMMANDS = {
  init: {
    summary: 'write a commented configuration and fixtures to edit',
    options: {
      dir: text('folder', 'folder to write them to (default: this one)'),
      force: flag('write over files that are there'),
    },
    examples: ['init', 'init --dir test/gateway'],
  },
} as const satisfies Declarations;

export const init = group({ commands: COMMANDS, load: () => import('../actions/init.ts') });
