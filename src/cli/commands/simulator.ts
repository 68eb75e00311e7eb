import { reference } from '../../client.ts';
import { GatewayError } from '../../domain/error.ts';
import { connect, type Server, type ServerChoice } from '../connect.ts';
import { pairs, type Shown, table } from '../output.ts';
import type { Call } from '../program.ts';

interface Keys {
  name: string;
  publicKey: string;
  secretKey: string;
}

/** The merchant that was named, else the default one; undefined when the name is unknown. */
async function findMerchant(server: Server, name: unknown) {
  const { data } = await server.ask(server.client.merchants.$get());
  return data.find((merchant) =>
    name === undefined ? merchant.isDefault : merchant.name === name || merchant.id === name,
  );
}

/**
 * The merchant with this name or id, else the default one.
 *
 * @throws GatewayError `not_found`
 */
export async function requireMerchant(server: Server, name: unknown) {
  const merchant = await findMerchant(server, name);
  if (merchant) return merchant;
  throw new GatewayError('not_found', `no merchant is called "${name}"`, {
    remedy: 'gateway-sim keys generate --merchant <name> makes one.',
  });
}

async function merchantOf({ options }: Call): Promise<{ server: Server; merchant: Keys }> {
  const server = await connect(options as ServerChoice);
  return { server, merchant: await requireMerchant(server, options['merchant']) };
}

function shownKeys({ name, publicKey, secretKey }: Keys, notices: readonly string[] = []): Shown {
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
export async function showKeys(call: Call): Promise<Shown> {
  const { merchant } = await merchantOf(call);
  return shownKeys(merchant);
}

/** `gateway-sim keys generate` */
export async function generateKeys({ options }: Call): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  const name = options['merchant'];
  const known = await findMerchant(server, name);
  if (!known) {
    const made = await server.ask(server.client.merchants.$post({ json: { name: String(name) } }));
    return shownKeys(made, [`Merchant "${made.name}" is new.`]);
  }
  const changed = await server.ask(server.client.merchants[':id'].keys.$post({ param: { id: known.id } }));
  return shownKeys(changed, ['The old pair stopped working.']);
}

/** `gateway-sim keys env` */
export async function keysEnv(call: Call): Promise<Shown> {
  const { server, merchant } = await merchantOf(call);
  const variables = {
    GATEWAY_SIM_URL: server.url,
    GATEWAY_SIM_PUBLIC_KEY: merchant.publicKey,
    GATEWAY_SIM_SECRET_KEY: merchant.secretKey,
    GATEWAY_SIM_INITIATE_URL: `${server.url}/sandbox/payment/initiate`,
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  return { json: variables, text: lines.join('\n') };
}

/** `gateway-sim wallets list` */
export async function listWallets({ options }: Call): Promise<Shown> {
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
export async function fundWallet({ args: [id = ''], options }: Call): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  const json = { amount: String(options['amount']) };
  const wallet = await server.ask(
    server.client.wallets[':id'].fund.$post({ param: { id: reference(id) }, json }),
  );
  return { json: wallet, text: `${wallet.id}  ${wallet.balance} ${wallet.currency}` };
}
