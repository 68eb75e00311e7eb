import { shellWord } from '../../contract/curl.ts';
import type { Merchant } from '../../contract/merchant.ts';
import { findMerchant, merchantEnvironment, requireMerchant } from '../../library/merchant-client.ts';
import { defineCommand, type Group, text } from '../command.ts';
import { pairs } from '../layout.ts';
import type { CommandResult } from '../output.ts';
import { onOneLine } from '../printable.ts';

const MERCHANT = { merchant: text('name', 'of this merchant (default: the first one)') };

const show = defineCommand({
  summary: 'the pair of keys',
  options: MERCHANT,
  run: async ({ options: { merchant }, connect }) => shown(await requireMerchant(await connect(), merchant)),
});

const generate = defineCommand({
  summary: 'a new pair; the old one stops working',
  neverGuess: true,
  options: {
    merchant: text('name', 'of this merchant; a new name makes one (default: the first one)'),
  },
  examples: ['keys generate', 'keys generate --merchant "Second Shop"'],
  run: async ({ options: { merchant }, connect }) => {
    const server = await connect();
    const known = await findMerchant(server, merchant);
    if (known) {
      const changed = await server.call('POST /merchants/:id/keys', { param: { id: known.id } });
      return shown(changed, 'The old pair stopped working.');
    }
    const made = await server.call('POST /merchants', { json: { name: String(merchant) } });
    return shown(made, `Merchant "${made.name}" is new.`);
  },
});

function shown({ name, publicKey, secretKey }: Merchant, ...notices: string[]): CommandResult {
  return {
    json: { merchant: name, publicKey, secretKey },
    text: pairs({ Merchant: name, 'Public key': publicKey, 'Secret key': secretKey }),
    notices,
  };
}

const env = defineCommand({
  summary: 'the keys as lines of a .env file',
  options: MERCHANT,
  examples: ['keys env >>.env'],
  run: async ({ options: { merchant }, connect }) => {
    const server = await connect();
    const variables = merchantEnvironment(server, await requireMerchant(server, merchant));
    const lines = Object.entries(variables).map(([name, value]) => `${name}=${shellWord(onOneLine(value))}`);
    return { json: variables, text: lines.join('\n') };
  },
});

export const keys: Group = {
  summary: "the merchant's keys",
  examples: ['keys', 'keys env'],
  commands: { show, generate, env },
};
