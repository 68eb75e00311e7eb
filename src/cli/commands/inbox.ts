import { type ActionsOf, type Declarations, group } from '../command.ts';
import { listed, moment } from '../layout.ts';

const COMMANDS = {
  inbox: { summary: 'verification codes of live payments' },
} as const satisfies Declarations;

type Actions = ActionsOf<typeof COMMANDS>;

const runInbox: Actions['inbox'] = async ({ call }) =>
  listed(
    await call('GET /inbox'),
    {
      'Sent (UTC)': ({ sentAt }) => moment(sentAt),
      'E-mail': ({ email }) => email,
      Code: ({ code }) => code,
      Identifier: ({ identifier }) => identifier,
      'Valid until (UTC)': ({ expiresAt }) => moment(expiresAt),
    },
    ['No codes yet: they are sent when a live checkout gets an e-mail.'],
  );

export const inbox = group({ commands: COMMANDS, actions: { inbox: runInbox } });
