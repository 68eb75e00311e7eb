import { type ErrorCode, GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import { type ControlServer, noServer, segment } from './control-client.ts';

/*
 * The service's own routes, called as a merchant calls them, for commands and tests that stand in for one.
 */

/** Values of the fields of initiate, by wire name; what is left out takes a value that works. */
export type InitiateValues = Readonly<Partial<Record<InitiateField, string | undefined>>>;

type InitiateField =
  | 'public_key'
  | 'identifier'
  | 'currency'
  | 'amount'
  | 'details'
  | 'ipn_url'
  | 'success_url'
  | 'cancel_url'
  | 'site_logo'
  | 'checkout_theme'
  | 'customer_name'
  | 'customer_email';

/** A merchant of the running emulator. */
type MerchantRecord = Awaited<ReturnType<typeof allMerchants>>[number];

async function allMerchants(server: ControlServer) {
  return (await server.call('GET /merchants')).data;
}

/**
 * The merchant with this name or id; the first one when none is named.
 *
 * @throws GatewayError `not_found`
 */
export async function requireMerchant(
  server: ControlServer,
  named: string | undefined,
): Promise<MerchantRecord> {
  const merchant = await findMerchant(server, named);
  if (merchant) return merchant;
  throw new GatewayError('not_found', `no merchant is called "${named}"`, {
    hint: hint`${command('keys generate', '--merchant', '<name>')} makes one.`,
  });
}

/** The merchant with this name or id, the first one when none is named; undefined when there is none of that name. */
export async function findMerchant(
  server: ControlServer,
  named: string | undefined,
): Promise<MerchantRecord | undefined> {
  const merchants = await allMerchants(server);
  return merchants.find(({ isDefault, name, id }) =>
    named === undefined ? isDefault : name === named || id === named,
  );
}

/**
 * Initiates a payment as a merchant would.
 *
 * @returns its checkout URL
 * @throws GatewayError `invalid_fields` with every problem, `timed_out` when there is no whole answer
 */
export async function initiatePayment(
  server: ControlServer,
  mode: 'sandbox' | 'live',
  values: InitiateValues,
): Promise<string> {
  const { url: publicUrl } = await server.call('GET /status');
  const defaults = {
    public_key: values.public_key ?? (await requireMerchant(server, undefined)).publicKey,
    identifier: `sim-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 6)}`,
    currency: 'USD',
    amount: '100.00',
    details: 'Test payment',
    ipn_url: 'http://localhost:3000/ipn',
    success_url: `${publicUrl}/_sim/ui/paid`,
    cancel_url: `${publicUrl}/_sim/ui/canceled`,
    site_logo: `${publicUrl}/_sim/ui/logo.svg`,
    customer_name: 'Ada Example',
    customer_email: 'wallet@example.com',
  };
  const given = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const address = `${server.url}${mode === 'live' ? '' : '/sandbox'}/payment/initiate`;
  const body = new URLSearchParams({ ...defaults, ...Object.fromEntries(given) });
  const answer = await fetch(address, { method: 'POST', body })
    .then((response) => response.json() as Promise<Partial<{ success: string; url: string } & Refusal>>)
    .catch((error: unknown) => {
      throw new GatewayError('timed_out', `there is no whole answer from ${address}`, {
        hint: hint`${command('status')} tells whether it runs, and which faults are on.`,
        cause: error,
      });
    });
  if (answer.success === 'ok' && answer.url !== undefined) return answer.url;
  const { message = `${address} did not answer as it should`, errors = [message] } = answer;
  throw new GatewayError('invalid_fields', message, { problems: errors });
}

interface Refusal {
  message: string;
  errors: string[];
}

/** The variables that `keys env` prints and that `exec` and the library hand on. */
export function merchantEnvironment(
  url: string,
  keys: { publicKey: string; secretKey: string },
): Record<string, string> {
  return {
    GATEWAY_SIM_URL: url,
    GATEWAY_SIM_PUBLIC_KEY: keys.publicKey,
    GATEWAY_SIM_SECRET_KEY: keys.secretKey,
    GATEWAY_SIM_INITIATE_URL: `${url}/sandbox/payment/initiate`,
  };
}

/** The id of the payment that a checkout URL opens. */
export function paymentIdOf(checkoutUrl: string): string {
  return new URL(checkoutUrl).searchParams.get('payment_id') ?? '';
}

/** The service's own routes tell no code; anything else, such as an injected fault, fails the command. */
const CODE_OF_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'unauthorized'],
  [404, 'not_found'],
  [409, 'wrong_state'],
  [422, 'invalid_fields'],
]);

/** A call of a card route: its method, its path and its JSON body. */
export interface CardCall {
  method: 'POST' | 'PUT';
  path: string;
  body?: object;
}

/** The calls that a merchant can make about a card that it has. */
export const CARD_CALLS = {
  activate: (id: string): CardCall => toggle(id, true),
  block: (id: string): CardCall => toggle(id, false),
  cancel: (id: string): CardCall => ({ method: 'PUT', path: `/api/cards/cancel/${segment(id)}` }),
} as const;

function toggle(id: string, active: boolean): CardCall {
  return { method: 'PUT', path: '/api/cards/toggle', body: { card_id: id, active } };
}

/**
 * Calls a card route with a merchant's secret key.
 *
 * @returns the card of the answer, with its transactions
 * @throws GatewayError with the code that the status stands for
 */
export async function callCards(server: ControlServer, secretKey: string, call: CardCall) {
  const { method, path, body } = call;
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  const answer = (await response.json().catch(() => ({}))) as Partial<Refusal & { data: { id: string } }>;
  if (response.ok && answer.data) return readCard(server, answer.data.id);
  const { message = `${method} ${path} was answered ${response.status}`, errors = [message] } = answer;
  throw new GatewayError(CODE_OF_STATUS.get(response.status) ?? 'check_failed', message, {
    problems: errors,
  });
}

/** Calls a card route with the secret key of the card's own merchant. */
export async function callCard(server: ControlServer, id: string, call: (id: string) => CardCall) {
  const { merchantId } = await readCard(server, id);
  const { secretKey } = await requireMerchant(server, merchantId);
  return callCards(server, secretKey, call(id));
}

/** A card with its transactions, as the simulator sees it. */
export function readCard(server: ControlServer, id: string) {
  return server.call('GET /cards/:id', { param: { id } });
}

/** What a merchant sends to create a card; what is left out takes a value that works. */
export interface CardValues {
  amount?: string | undefined;
  currency?: string | undefined;
  title?: string | undefined;
  nameOnCard?: string | undefined;
  email?: string | undefined;
}

/**
 * Creates a card as a merchant would.
 *
 * @param named the merchant; default: the first
 * @throws GatewayError `not_found`, `invalid_fields`
 */
export async function createCard(server: ControlServer, values: CardValues, named?: string) {
  const { secretKey } = await requireMerchant(server, named);
  const body = {
    currency_code: values.currency ?? 'USD',
    title: values.title ?? 'Test card',
    name_on_card: values.nameOnCard ?? 'Ada Example',
    email: values.email ?? 'ada@example.com',
    amount: values.amount ?? '100.00',
  };
  return callCards(server, secretKey, { method: 'POST', path: '/api/cards/save', body });
}
