import { shellWord } from '../../contract/curl.ts';
import type { Merchant } from '../../contract/merchant.ts';
import { findMerchant, merchantEnvironment, requireMerchant } from '../../library/merchant-client.ts';
import { defineCommand, flag, type Group, text } from '../command.ts';
import { type CommandResult, pairs } from '../output.ts';
import { onOneLine } from '../printed.ts';

const MERCHANT = { merchant: text('name', 'use this merchant (default: the first merchant)') };

const show = defineCommand({
  summary: "show the merchant's keys",
  options: MERCHANT,
  run: async ({ options: { merchant }, connect }) => shown(await requireMerchant(await connect(), merchant)),
});

const generate = defineCommand({
  summary: 'replace the keys; the old ones stop working',
  options: {
    merchant: text('name', 'use this merchant; a new name creates a merchant (default: the first merchant)'),
  },
  examples: ['keys generate', 'keys generate --merchant "Second Shop"'],
  run: async ({ options: { merchant }, connect }) => {
    const server = await connect();
    const known = await findMerchant(server, merchant);
    if (known) {
      const changed = await server.call('POST /merchants/:id/keys', { param: { id: known.id } });
      return shown(changed, 'The old keys no longer work.');
    }
    const created = await server.call('POST /merchants', { json: { name: String(merchant) } });
    return shown(created, `Created merchant "${created.name}".`);
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
  summary: 'print the keys in .env format',
  options: {
    ...MERCHANT,
    export: flag('print commands that set the variables in a shell, for eval'),
  },
  about: `
For sh, bash and zsh: eval "$(npx gateway-sim keys env --export)"

For fish: npx gateway-sim keys env --export | source`,
  examples: ['keys env >>.env', 'keys env --export'],
  run: async ({ options, connect }) => {
    const server = await connect();
    const variables = merchantEnvironment(server, await requireMerchant(server, options.merchant));
    const lines = Object.entries(variables).map(([name, value]) => {
      const line = onOneLine(value);
      return options.export ? `export ${name}=${quotedForAnyShell(line)}` : `${name}=${shellWord(line)}`;
    });
    return { json: variables, text: lines.join('\n') };
  },
});

/** Quotes a text for sh and fish. In fish, a backslash has a meaning even in single quotes, so it stays outside. */
const quotedForAnyShell = (text: string) => `'${text.replace(/['\\]/g, "'\\$&'")}'`;

export const keys: Group = {
  summary: "show or replace the merchant's keys",
  examples: ['keys', 'keys env'],
  commands: { show, generate, env },
};
