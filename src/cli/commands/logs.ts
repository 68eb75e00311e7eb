import { type Declarations, flag, group } from '../command.ts';

export const COMMANDS = {
  logs: {
    summary: 'what happened',
    options: { follow: flag('and what happens next') },
    examples: ['logs', 'logs --follow'],
  },
} as const satisfies Declarations;

export const logs = group({ commands: COMMANDS, load: () => import('../actions/logs.ts') });
