import type { ContextOf } from '../command.ts';
import type { COMMANDS } from '../commands/wallets.ts';
import { listed } from '../layout.ts';
import type { CommandResult } from '../output.ts';

type Context<Name extends keyof typeof COMMANDS> = ContextOf<(typeof COMMANDS)[Name]>;

export async function list({ connect }: Context<'list'>) {
  const server = await connect();
  const page = await server.call('GET /wallets');
  return listed(page, {
    Wallet: ({ id }) => id,
    'E-mail': ({ email }) => email,
    Holder: ({ holder }) => holder,
    Balance: ({ balance, currency }) => `${balance} ${currency}`,
  });
}

export async function fund({ args: [id], fields: json, connect }: Context<'fund'>): Promise<CommandResult> {
  const server = await connect();
  const param = { id };
  const wallet = await server.call('POST /wallets/:id/fund', { param, json });
  return { json: wallet, text: `${wallet.id}  ${wallet.balance} ${wallet.currency}` };
}
