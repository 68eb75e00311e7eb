import type { CardFields } from '../contract/card.ts';
import type { CardAction } from '../contract/card-status.ts';
import { command, type ErrorCode, GatewayError, hint } from '../contract/error.ts';
import { FORM_TYPE, JSON_TYPE } from '../contract/media-types.ts';
import type { ListedMerchant } from '../contract/merchant.ts';
import { CARD_DEFAULTS, withoutUndefined, withPaymentDefaults } from '../contract/sample-values.ts';
import type { Mode } from '../contract/vocabulary.ts';
import {
  type InitiateValues,
  initiateForm,
  initiateUrl,
  paymentIdOf,
  readAnswer,
} from '../service/merchant.ts';
import { CARD_NAMES, CARD_PATHS, INITIATE_PATHS, toWire } from '../service/names.ts';
import {
  type ControlServer,
  isSuccess,
  LIMIT_MS,
  noServer,
  readJson,
  request,
  unlikeGatewaySim,
} from './control-client.ts';

/*
 * Calls the service's own routes, for commands and tests that act as a merchant.
 */

export type MerchantKeys = Pick<ListedMerchant, 'publicKey' | 'secretKey'>;

/** The merchant with this name or id. Default: the first merchant. @throws GatewayError `not_found` */
export async function requireMerchant(server: ControlServer, named?: string): Promise<ListedMerchant> {
  const merchant = await findMerchant(server, named);
  if (merchant) return merchant;
  throw new GatewayError('not_found', `no merchant is called "${named}"`, {
    hint: hint`Create one with: ${command('keys generate', '--merchant', '<name>')}`,
  });
}

/**
 * The merchant with this name or id (default: the first merchant); undefined if there is none.
 *
 * @throws GatewayError `no_server` for a list without a first merchant: an emulator always has one
 */
export async function findMerchant(
  server: ControlServer,
  named: string | undefined,
): Promise<ListedMerchant | undefined> {
  const { data } = await server.call('GET /merchants');
  if (!Array.isArray(data) || !merchantIn(data, undefined)) throw unlikeGatewaySim(server.url);
  return merchantIn(data, named);
}

/** The same merchant in a list of all. */
export function merchantIn(merchants: readonly ListedMerchant[], named: string | undefined) {
  return merchants.find(({ isDefault, name, id }) =>
    named === undefined ? isDefault : name === named || id === named,
  );
}

/**
 * Initiates a payment as a merchant would. Omitted fields get valid values.
 *
 * @throws GatewayError `invalid_fields` with every problem, `timed_out` without a complete response
 */
export async function initiatePayment(server: ControlServer, mode: Mode, values: InitiateValues) {
  const { url: baseUrl } = await server.call('GET /status');
  const publicKey = values.publicKey ?? (await requireMerchant(server)).publicKey;
  const form = initiateForm(withPaymentDefaults(values, { baseUrl, publicKey }));
  const address = `${server.url}${INITIATE_PATHS[mode]}`;
  let status = 0;
  const body = await request(address, {
    method: 'POST',
    tlsCa: server.tlsCa,
    totalMs: LIMIT_MS,
    headers: { 'Content-Type': FORM_TYPE },
    body: new URLSearchParams(form).toString(),
  })
    .then((answer) => {
      status = answer.statusCode ?? 0;
      return readJson(answer);
    })
    .catch((cause: unknown) => {
      throw new GatewayError('timed_out', `no complete response from ${address}`, {
        hint: hint`Check the emulator and its active faults with: ${command('status')}`,
        cause,
      });
    });
  const { checkoutUrl, message = `${address} sent an unexpected response`, problems } = readAnswer(body);
  if (checkoutUrl !== undefined) return { checkoutUrl, id: paymentIdOf(checkoutUrl) };
  // Caused by a fault rule, for example, not by the fields.
  const isFault = status === 429 || status >= 500;
  throw new GatewayError(isFault ? 'check_failed' : 'invalid_fields', message, {
    problems: problems ?? [message],
    // The service does not tell a merchant how to start its emulator.
    hint: isFault
      ? hint`Check the active faults with: ${command('faults list')}`
      : hint`If your gateway accepts this, the log says how to accept it here: ${command('logs')}`,
  });
}

/** The variables that `keys env` prints and that `exec` and the library set. */
export function merchantEnvironment(
  { url, tlsCa }: Pick<ControlServer, 'url' | 'tlsCa'>,
  { publicKey, secretKey }: MerchantKeys,
): Record<string, string> {
  return {
    // Only for Node, which trusts it in addition to the usual ones. Other runtimes would trust nothing else. Without
    // HTTPS the file has nothing to do with the emulator.
    ...(tlsCa && /^https:/i.test(url) && { GATEWAY_SIM_TLS_CA: tlsCa, NODE_EXTRA_CA_CERTS: tlsCa }),
    GATEWAY_SIM_URL: url,
    GATEWAY_SIM_PUBLIC_KEY: publicKey,
    GATEWAY_SIM_SECRET_KEY: secretKey,
    GATEWAY_SIM_INITIATE_URL: initiateUrl(url),
  };
}

/** The service's own routes return no error codes. Other statuses, such as those of a fault rule, fail the command. */
const CODE_OF_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'unauthorized'],
  [404, 'not_found'],
  [409, 'wrong_state'],
  [422, 'invalid_fields'],
]);

/** @throws GatewayError with the code for the status */
async function callCards(
  server: ControlServer,
  secretKey: string,
  method: 'POST' | 'PUT',
  path: string,
  json?: object,
) {
  const response = await request(`${server.url}${path}`, {
    method,
    tlsCa: server.tlsCa,
    totalMs: LIMIT_MS,
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': JSON_TYPE },
    body: json && JSON.stringify(json),
  }).catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  const { statusCode: status = 0 } = response;
  const answer = readAnswer(await readJson(response).catch(() => ({})));
  if (isSuccess(response) && answer.cardId !== undefined) return readCard(server, answer.cardId);
  const { message = `${method} ${path} returned ${status}`, problems = [message] } = answer;
  throw new GatewayError(CODE_OF_STATUS.get(status) ?? 'check_failed', message, { problems });
}

/** Acts as the card's merchant. */
export async function changeCard(server: ControlServer, id: string, action: CardAction) {
  const { merchantId } = await readCard(server, id);
  const { secretKey } = await requireMerchant(server, merchantId);
  if (action === 'cancel') {
    return callCards(server, secretKey, 'PUT', CARD_PATHS.cancel.replace(':id', encodeURIComponent(id)));
  }
  const toggle = { card_id: id, active: action === 'activate' };
  return callCards(server, secretKey, 'PUT', CARD_PATHS.toggle, toggle);
}

export function readCard(server: ControlServer, id: string) {
  return server.call('GET /cards/:id', { param: { id } });
}

/**
 * Creates a card as a merchant would. Omitted fields get valid values.
 *
 * @param named the merchant; default: the first merchant
 * @throws GatewayError `not_found`, `invalid_fields`
 */
export async function createCard(server: ControlServer, values: CardFields, named?: string) {
  const { secretKey } = await requireMerchant(server, named);
  const card = toWire(CARD_NAMES, { ...CARD_DEFAULTS, ...withoutUndefined(values) });
  return callCards(server, secretKey, 'POST', CARD_PATHS.create, card);
}
