import { command, group } from '../command.ts';

export const COMMANDS = {
  inbox: command({ summary: 'verification codes of live payments' }),
};

export const inbox = group({ commands: COMMANDS, load: () => import('../actions/inbox.ts') });
