import { command, flag, group } from '../command.ts';

export const COMMANDS = {
  logs: command({
    summary: 'what happened',
    options: { follow: flag('and what happens next') },
    examples: ['logs', 'logs --follow'],
  }),
};

export const logs = group({ commands: COMMANDS, load: () => import('../actions/logs.ts') });
