import { type ActionsOf, type Declarations, group } from '../command.ts';

const COMMANDS = {
  inbox: { summary: 'verification codes of live payments' },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const inbox = group({ commands: COMMANDS, load: () => import('../actions/inbox.ts') });
