import { GatewayError, nearestName } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import type { Merchant } from '../contract/merchant.ts';
import { type IpnFormat, TAMPERINGS, type Tampering } from '../contract/vocabulary.ts';
import { encodeIpn, type IpnFields, ipnFields, SIGNED_ANEW, sign } from './ipn.ts';
import { defaultMerchant } from './merchant.ts';
import { DOCUMENTED_CURRENCIES, isAmount } from './money.ts';
import { requirePayment, urlProblem } from './payment.ts';
import { type Context, timestamp } from './settings.ts';
import type { Delivery, Outcome, State } from './state.ts';

/** The fields of an IPN that its maker chooses; what is left out takes the payment's value, or a made-up one. */
export interface FiredFields {
  identifier?: string | undefined;
  amount?: string | undefined;
  /** Default: USD. */
  currency?: string | undefined;
  /** Default: success. */
  status?: string | undefined;
}

/** How an IPN is written and falsified. */
export interface Composition {
  format: IpnFormat;
  /** Values by dotted name, such as `data.charge`; set before it is signed. */
  set?: Readonly<Record<string, string>> | undefined;
  tamper?: Tampering | undefined;
}

/** An IPN ready to be posted. */
export interface ComposedIpn {
  contentType: string;
  body: string;
  signedText: string;
}

/** Group of fields by name, nested as deep as the overrides want. */
interface Fields {
  [name: string]: string | Fields;
}

/** The fields of an IPN for a payment that never was. */
export function inventedFields(chosen: FiredFields, made: { trx: string; now: number }): IpnFields {
  const { identifier = `sim-${made.trx}`, amount = '100.00', currency = 'USD', status = 'success' } = chosen;
  requireFields({ amount, currency });
  return {
    status,
    signature: '',
    identifier,
    data: {
      payment_trx: made.trx,
      amount,
      account_holder: 'Ada Example',
      payment_type: 'hosted',
      payment_timestamp: timestamp(made.now).slice(0, 19).replace('T', ' '),
      charge: '0.00',
      currency: { code: currency, symbol: symbolOf(currency) },
    },
  };
}

function requireFields({ amount, currency }: FiredFields): void {
  const problems = [
    ...(amount === undefined || isAmount(amount)
      ? []
      : [`amount must be a plain decimal greater than 0, such as 250.00 (got "${amount}")`]),
    ...(currency === undefined || /^[A-Z0-9]{2,4}$/.test(currency)
      ? []
      : [`currency must be an upper-case code, such as USD (got "${currency}")`]),
  ];
  if (!problems.length) return;
  throw new GatewayError('invalid_fields', problems[0] ?? '', {
    problems,
    hint: hint`To send something that is none all the same, override it with set.`,
  });
}

function symbolOf(code: string, currencies?: Context['settings']['currencies']): string {
  const known = currencies?.get(code) ?? DOCUMENTED_CURRENCIES.find((currency) => currency.code === code);
  return known?.symbol ?? code;
}

/**
 * Overrides fields, signs what came of it, and then falsifies it.
 *
 * @throws GatewayError `invalid_fields` for an override whose name cannot be one
 */
export function composeIpn(fields: IpnFields, secretKey: string, composition: Composition): ComposedIpn {
  const { set = {}, tamper, format } = composition;
  const nested = structuredClone(fields) as unknown as Fields;
  for (const [name, value] of Object.entries(set)) override(nested, name, value);
  const changed = nested as unknown as IpnFields;
  const { amount } = changed.data;
  const key = tamper === 'secret' ? `not-${secretKey}` : secretKey;
  if (!Object.hasOwn(set, 'signature')) changed.signature = sign(amount, changed.identifier, key);
  const signedText = amount + changed.identifier;
  if (tamper) applyTampering(changed, tamper);
  return { ...encodeIpn(changed, format), signedText };
}

const FIELD_NAME = /^[A-Za-z0-9_-]{1,40}(\.[A-Za-z0-9_-]{1,40}){0,4}$/;

function override(fields: Fields, name: string, value: string): void {
  if (!FIELD_NAME.test(name) || name.includes('__proto__')) {
    throw new GatewayError(
      'invalid_fields',
      `set takes field names such as status or data.charge (got "${name.slice(0, 80)}")`,
    );
  }
  const path = name.split('.');
  const last = path.pop() ?? '';
  let group = fields;
  for (const part of path) {
    const next = Object.hasOwn(group, part) ? group[part] : {};
    if (typeof next !== 'object') {
      throw new GatewayError(
        'invalid_fields',
        `set ${name}: ${part} is a single value, not a group of fields`,
      );
    }
    group[part] = next;
    group = next;
  }
  if (Object.hasOwn(group, last) && typeof group[last] === 'object') {
    const inner = Object.keys(group[last] as Fields).map((key) => `${name}.${key}`);
    throw new GatewayError('invalid_fields', `set ${name}: it is a group of fields; set ${inner.join(', ')}`);
  }
  group[last] = value;
}

const TAMPERERS = {
  signature: (ipn) => {
    const [first = '0', ...rest] = ipn.signature;
    ipn.signature = (first === '0' ? '1' : '0') + rest.join('');
  },
  amount: (ipn) => {
    ipn.data.amount = `9${ipn.data.amount}`;
  },
  identifier: (ipn) => {
    ipn.identifier = `${ipn.identifier}X`;
  },
  // Neither status nor currency is signed: a receiver must look at them itself.
  status: (ipn) => {
    ipn.status = 'failed';
  },
  currency: (ipn) => {
    const code = ipn.data.currency.code === 'GNF' ? 'USD' : 'GNF';
    ipn.data.currency = { ...ipn.data.currency, code, symbol: symbolOf(code) };
  },
  case: (ipn) => {
    ipn.signature = ipn.signature.toLowerCase();
  },
  // Done when it was signed.
  secret: () => {},
} as const satisfies Record<Tampering, (ipn: IpnFields) => void>;

function applyTampering(ipn: IpnFields, tamper: Tampering): void {
  TAMPERERS[tamper](ipn);
}

/**
 * The tampering of this name.
 *
 * @throws GatewayError `invalid_fields`, with the nearest known name
 */
export function requireTampering(name: string): Tampering {
  const known = TAMPERINGS.find((tampering) => tampering === name);
  if (known) return known;
  const meant = nearestName(name, TAMPERINGS);
  throw new GatewayError(
    'invalid_fields',
    `tamper must be one of ${TAMPERINGS.join(', ')} (got "${name}")${meant ? `: did you mean ${meant}?` : ''}`,
  );
}

/** An IPN to be made by hand, through a running gateway. */
export interface FireRequest extends FiredFields {
  /** Id or identifier of a payment; without it the IPN tells of one that never was. */
  payment?: string | undefined;
  /** Default: the payment's ipn_url. */
  to?: string | undefined;
  /** Default: as the gateway writes them. */
  format?: IpnFormat | undefined;
  set?: Readonly<Record<string, string>> | undefined;
  tamper?: Tampering | undefined;
  /** How many deliveries of the same bytes; default 1. */
  times?: number | undefined;
  /** Wait before each of them, in milliseconds of the emulator's clock; default 0. */
  delayMs?: number | undefined;
}

/**
 * Rule: an IPN made by hand, as deliveries that are attempted once each.
 *
 * @throws GatewayError `not_found` for an unknown payment, `invalid_fields`
 */
export function fire(state: State, request: FireRequest, context: Context): Outcome<Delivery[]> {
  const { tamper, set, times = 1, delayMs = 0, format = context.settings.ipn.format } = request;
  const payment = request.payment === undefined ? undefined : requirePayment(state, request.payment);
  const url = requireAddress(request.to ?? payment?.ipnUrl);
  const merchant = (payment && state.merchants.get(payment.merchantId)) ?? defaultMerchant(state);
  const fields = firedFields(state, request, merchant, context);
  const { signedText, ...bytes } = composeIpn(fields, merchant.secretKey, { format, set, tamper });
  const isOverridden = set !== undefined && Object.hasOwn(set, 'signature');
  const deliveries = Array.from(
    { length: times },
    (_, index): Delivery => ({
      id: context.ids.delivery(),
      paymentId: payment?.id ?? null,
      merchantId: merchant.id,
      identifier: set?.['identifier'] ?? fields.identifier,
      url,
      status: set?.['status'] ?? fields.status,
      state: 'pending',
      ...bytes,
      signedText,
      signedWith: tamper || isOverridden ? '' : merchant.publicKey,
      once: true,
      attemptCount: 0,
      createdAt: timestamp(context.now),
      nextAttemptAt: timestamp(context.now + (index + 1) * delayMs),
      note: null,
    }),
  );
  return { change: { deliveries }, result: deliveries };
}

function firedFields(state: State, request: FireRequest, merchant: Merchant, context: Context): IpnFields {
  if (request.payment === undefined) {
    return inventedFields(request, { trx: context.ids.trx(), now: context.now });
  }
  requireFields(request);
  const payment = requirePayment(state, request.payment);
  const { identifier = payment.identifier, amount = payment.amount, currency = payment.currency } = request;
  const holder = state.wallets.get(payment.walletId ?? '')?.holder ?? payment.customerName;
  const shown = { ...payment, identifier, amount, currency };
  return ipnFields(shown, request.status ?? 'success', holder, merchant, context);
}

/**
 * An address that an IPN can go to.
 *
 * @throws GatewayError `invalid_fields`
 */
export function requireAddress(url: string | undefined): string {
  if (url === undefined) {
    throw new GatewayError(
      'invalid_fields',
      'to is required: the address that the IPN goes to (or payment, whose ipn_url it is)',
    );
  }
  const problem = urlProblem(url);
  if (problem) throw new GatewayError('invalid_fields', `to ${problem}`);
  return url;
}

/**
 * Rule: a delivery goes out once more, at once. The bytes stay, unless the key pair was replaced since they were
 * signed: then they are signed anew, and the note says so. Another address makes a new delivery.
 *
 * @throws GatewayError `not_found` for an unknown delivery, `invalid_fields`
 */
export function resend(
  state: State,
  deliveryId: string,
  to: string | undefined,
  context: Context,
): Outcome<Delivery> {
  const now = timestamp(context.now);
  const delivery = requireDelivery(state, deliveryId);
  const signed = signedNow(delivery, state);
  const again: Delivery = { ...signed, state: 'pending', nextAttemptAt: now };
  if (to === undefined) return { change: { deliveries: [again] }, result: again };
  const elsewhere: Delivery = {
    ...again,
    id: context.ids.delivery(),
    url: requireAddress(to),
    once: true,
    attemptCount: 0,
    createdAt: now,
    note: signed === delivery ? null : SIGNED_ANEW,
  };
  return { change: { deliveries: [elsewhere] }, result: elsewhere };
}

/**
 * The delivery with this id.
 *
 * @throws GatewayError `not_found`
 */
export function requireDelivery(state: State, id: string): Delivery {
  const delivery = state.deliveries.get(id);
  if (delivery) return delivery;
  throw new GatewayError('not_found', `no IPN delivery has the id "${id.slice(0, 80)}"`, {
    hint: hint`${command('ipn list')} shows what there is.`,
  });
}

/** The delivery as the merchant's present key signs it; untouched where that makes no difference. */
function signedNow(delivery: Delivery, state: State): Delivery {
  const merchant = state.merchants.get(delivery.merchantId);
  if (!merchant || delivery.signedWith === '') return delivery;
  const signature = sign(delivery.signedText, '', merchant.secretKey);
  if (delivery.body.includes(signature)) return delivery;
  const body = delivery.body.replace(/(\bsignature(?:=|":"))[^&"]*/, `$1${signature}`);
  return { ...delivery, body, signedWith: merchant.publicKey, note: SIGNED_ANEW };
}
