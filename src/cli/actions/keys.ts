import type { Merchant } from '../../contract/merchant.ts';
import { findMerchant, merchantEnvironment, requireMerchant } from '../../library/merchant-client.ts';
import type { Actions } from '../commands/keys.ts';
import { pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';
import { onOneLine } from '../printable.ts';

export const show: Actions['show'] = async ({ options: { merchant }, connect }) =>
  shown(await requireMerchant(await connect(), merchant));

export const generate: Actions['generate'] = async ({ options: { merchant }, connect }) => {
  const server = await connect();
  const known = await findMerchant(server, merchant);
  if (known) {
    const changed = await server.call('POST /merchants/:id/keys', { param: { id: known.id } });
    return shown(changed, 'The old pair stopped working.');
  }
  const made = await server.call('POST /merchants', { json: { name: String(merchant) } });
  return shown(made, `Merchant "${made.name}" is new.`);
};

function shown({ name, publicKey, secretKey }: Merchant, ...notices: string[]): CommandResult {
  return {
    json: { merchant: name, publicKey, secretKey },
    text: pairs({ Merchant: name, 'Public key': publicKey, 'Secret key': secretKey }),
    notices,
  };
}

export const env: Actions['env'] = async ({ options: { merchant }, connect }) => {
  const server = await connect();
  const variables = merchantEnvironment(server, await requireMerchant(server, merchant));
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${onOneLine(value)}`);
  return { json: variables, text: lines.join('\n') };
};
