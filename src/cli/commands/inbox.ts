import { moment } from '../../contract/time.ts';
import { defineCommand } from '../command.ts';
import { listed } from '../output.ts';

export const inbox = defineCommand({
  summary: 'list the verification codes of live payments',
  run: async ({ call }) =>
    listed(
      await call('GET /inbox'),
      {
        'Sent (UTC)': ({ sentAt }) => moment(sentAt),
        'E-mail': ({ email }) => email,
        Code: ({ code }) => code,
        Identifier: ({ identifier }) => identifier,
        'Valid until (UTC)': ({ expiresAt }) => moment(expiresAt),
      },
      ['No codes yet. A live checkout sends one when the customer enters an e-mail.'],
    ),
});
