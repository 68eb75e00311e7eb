import { reference } from '../../library/control-client.ts';
import { findMerchant, merchantEnvironment, requireMerchant } from '../../library/merchant-client.ts';
import { connect, type Server, type ServerChoice } from '../connect.ts';
import { type CommandResult, pairs, table } from '../output.ts';
import type { CommandContext } from '../program.ts';

interface Keys {
  name: string;
  publicKey: string;
  secretKey: string;
}

function nameIn(options: CommandContext['options']): string | undefined {
  return options['merchant'] === undefined ? undefined : String(options['merchant']);
}

async function merchantOf({ options }: CommandContext): Promise<{ server: Server; merchant: Keys }> {
  const server = await connect(options as ServerChoice);
  return { server, merchant: await requireMerchant(server, nameIn(options)) };
}

function shownKeys({ name, publicKey, secretKey }: Keys, notices: readonly string[] = []): CommandResult {
  return {
    json: { merchant: name, publicKey, secretKey },
    text: pairs([
      ['Merchant', name],
      ['Public key', publicKey],
      ['Secret key', secretKey],
    ]),
    notices,
  };
}

/** `gateway-sim keys show` */
export async function showKeys(call: CommandContext): Promise<CommandResult> {
  const { merchant } = await merchantOf(call);
  return shownKeys(merchant);
}

/** `gateway-sim keys generate` */
export async function generateKeys({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const name = nameIn(options);
  const known = await findMerchant(server, name);
  if (!known) {
    const made = await server.ask(server.client.merchants.$post({ json: { name: String(name) } }));
    return shownKeys(made, [`Merchant "${made.name}" is new.`]);
  }
  const changed = await server.ask(server.client.merchants[':id'].keys.$post({ param: { id: known.id } }));
  return shownKeys(changed, ['The old pair stopped working.']);
}

/** `gateway-sim keys env` */
export async function keysEnv(call: CommandContext): Promise<CommandResult> {
  const { server, merchant } = await merchantOf(call);
  const variables = merchantEnvironment(server.url, merchant);
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return { json: variables, text: lines.join('\n') };
}

/** `gateway-sim wallets list` */
export async function listWallets({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const page = await server.ask(server.client.wallets.$get());
  const rows = page.data.map(({ id, email, holder, balance, currency }) => [
    id,
    email,
    holder,
    `${balance} ${currency}`,
  ]);
  return { json: page, text: table(['Wallet', 'E-mail', 'Holder', 'Balance'], rows) };
}

/** `gateway-sim wallets fund` */
export async function fundWallet({ args: [id = ''], options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const json = { amount: String(options['amount']) };
  const wallet = await server.ask(
    server.client.wallets[':id'].fund.$post({ param: { id: reference(id) }, json }),
  );
  return { json: wallet, text: `${wallet.id}  ${wallet.balance} ${wallet.currency}` };
}
