import { type ActionsOf, type Declarations, flag, group } from '../command.ts';

const COMMANDS = {
  logs: {
    summary: 'what happened',
    options: { follow: flag('and what happens next') },
    examples: ['logs', 'logs --follow'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

export const logs = group({ commands: COMMANDS, load: () => import('../actions/logs.ts') });
