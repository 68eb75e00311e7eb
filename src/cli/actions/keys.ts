import { findMerchant, merchantEnvironment, requireMerchant } from '../../library/merchant-client.ts';
import type { ContextOf } from '../command.ts';
import type { COMMANDS } from '../commands/keys.ts';
import { pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';

type Context<Name extends keyof typeof COMMANDS> = ContextOf<(typeof COMMANDS)[Name]>;

interface Keys {
  name: string;
  publicKey: string;
  secretKey: string;
}

function shown({ name, publicKey, secretKey }: Keys, ...notices: string[]): CommandResult {
  return {
    json: { merchant: name, publicKey, secretKey },
    text: pairs({ Merchant: name, 'Public key': publicKey, 'Secret key': secretKey }),
    notices,
  };
}

export async function show({ options: { merchant }, connect }: Context<'show'>) {
  return shown(await requireMerchant(await connect(), merchant));
}

export async function generate({ options: { merchant }, connect }: Context<'generate'>) {
  const server = await connect();
  const known = await findMerchant(server, merchant);
  if (known) {
    const changed = await server.call('POST /merchants/:id/keys', { param: { id: known.id } });
    return shown(changed, 'The old pair stopped working.');
  }
  const made = await server.call('POST /merchants', { json: { name: String(merchant) } });
  return shown(made, `Merchant "${made.name}" is new.`);
}

export async function env({ options, connect }: Context<'env'>): Promise<CommandResult> {
  const server = await connect();
  const variables = merchantEnvironment(server.url, await requireMerchant(server, options.merchant));
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return { json: variables, text: lines.join('\n') };
}
