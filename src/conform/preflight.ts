import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { plainText } from '../contract/plain-text.ts';
import { at, parsed } from './json.ts';
import { keyMask } from './mask.ts';
import type { Target } from './target.ts';
import { header } from './target.ts';

const SANDBOX = '/sandbox/payment/initiate';
const FORM = 'application/x-www-form-urlencoded';

/**
 * Checks that the target is a gateway of this interface that knows the keys, and whether it is an emulator.
 *
 * @throws GatewayError `no_server`, `invalid_api_key`
 */
export async function requireGateway(target: Target): Promise<void> {
  const { options } = target;
  await target.identify();
  // Every gateway of this interface answers one of these requests with success or error.
  const bodies = [order(options.publicKey), 'public_key=', 'identifier=1'];
  let elsewhere = '';
  for (const [index, body] of bodies.entries()) {
    const answer = await target.send(SANDBOX, { method: 'POST', body, contentType: FORM });
    const location = answer.status >= 300 && answer.status < 400 && header(answer.headers, 'location');
    if (location) elsewhere = `; it redirects to ${keyMask([options.publicKey])(location)}`;
    const json = parsed(answer.body);
    if (!isAnswer(json)) continue;
    if (index === 0) requireKey(json, options.publicKey);
    await look(target);
    await cancel(target, at(json, 'url'));
    return;
  }
  throw new GatewayError(
    'no_server',
    `${options.url} is not a gateway of this interface: none of three responses to ${SANDBOX} was a JSON object with success or error${elsewhere}`,
    { hint: hint`Specify the gateway's address with ${option('target')}, without the initiate path.` },
  );
}

/** Cancels the test payment in an emulator. */
async function cancel(target: Target, url: unknown): Promise<void> {
  const [, id] = /[?&]payment_id=([\w-]+)/.exec(plainText(url) ?? '') ?? [];
  if (!target.hasControl || id === undefined) return;
  await target.control('POST', `/payments/${id}/settle`, { outcome: 'cancel', delivery: 'redirect-only' });
}

/** A complete order with valid fields. */
function order(publicKey: string): string {
  return new URLSearchParams({
    public_key: publicKey,
    identifier: `c${Date.now().toString(36)}`,
    currency: 'USD',
    amount: '1.00',
    details: 'Conformance check',
    ipn_url: 'https://ipn.invalid/ipn',
    success_url: 'https://shop.example/paid',
    cancel_url: 'https://shop.example/canceled',
    site_logo: 'https://shop.example/logo.png',
    checkout_theme: 'light',
    customer_name: 'Ada',
    customer_email: 'ada@example.com',
  }).toString();
}

const isAnswer = (json: unknown): boolean =>
  typeof json === 'object' && (at(json, 'success') !== undefined || at(json, 'error') !== undefined);

function requireKey(json: unknown, publicKey: string): void {
  const messages = JSON.stringify([at(json, 'message'), at(json, 'errors')]);
  const isAccepted = at(json, 'success') !== undefined;
  if (publicKey === '' || (!isAccepted && /api.?key/i.test(messages))) throw wrongKey('public', publicKey);
}

function wrongKey(which: 'public' | 'secret', key: string): GatewayError {
  const what = key === '' ? `requires a ${which} key` : `does not know the ${which} key ${key.slice(0, 8)}…`;
  return new GatewayError('invalid_api_key', `the target ${what}`, {
    hint: hint`Specify the keys of one of its merchants with ${option('publicKey')} and ${option('secretKey')}.`,
  });
}

/** Reads the status of an emulator on this machine. */
async function look(target: Target): Promise<void> {
  if (!target.isEmulator) return;
  const answer = await target.control('GET', '/status');
  const status = parsed(answer.body);
  target.hasControl = answer.status === 200 && typeof at(status, 'counts') === 'object';
  const url = at(status, 'url');
  if (target.hasControl && typeof url === 'string' && URL.canParse(url)) target.alias = url;
  const [email, code] = [at(status, 'options.sandboxEmail'), at(status, 'options.sandboxCode')];
  if (typeof email === 'string' && typeof code === 'string') target.sandbox = { email, code };
  await requireSecretKey(target);
}

/** Checks the secret key with the cards API, which exists only in live mode. */
async function requireSecretKey(target: Target): Promise<void> {
  const { secretKey } = target.options;
  const headers = [['Authorization', `Bearer ${secretKey}`]] as const;
  const answer = await target.send('/api/cards', { method: 'GET', headers });
  if (answer.status === 401) throw wrongKey('secret', secretKey);
}
