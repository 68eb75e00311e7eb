import type { ContextOf } from '../command.ts';
import type { COMMANDS } from '../commands/inbox.ts';
import { listed, moment } from '../layout.ts';

export async function inbox({ connect }: ContextOf<typeof COMMANDS.inbox>) {
  const server = await connect();
  const page = await server.call('GET /inbox');
  return listed(
    page,
    {
      'Sent (UTC)': ({ sentAt }) => moment(sentAt),
      'E-mail': ({ email }) => email,
      Code: ({ code }) => code,
      Identifier: ({ identifier }) => identifier,
      'Valid until (UTC)': ({ expiresAt }) => moment(expiresAt),
    },
    ['No codes yet: they are sent when a live checkout gets an e-mail.'],
  );
}
