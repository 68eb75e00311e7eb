import { type Declarations, group } from '../command.ts';

export const COMMANDS = {
  inbox: { summary: 'verification codes of live payments' },
} as const satisfies Declarations;

export const inbox = group({ commands: COMMANDS, load: () => import('../actions/inbox.ts') });
