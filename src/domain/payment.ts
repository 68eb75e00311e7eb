import * as z from 'zod/mini';
import { GatewayError, nearestName } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import type { PaymentEvent } from '../contract/payment.ts';
import type { Mode } from '../contract/vocabulary.ts';
import { autoSettling, mistypedMagic } from './auto.ts';
import { findByPublicKey, findBySecretKey } from './merchant.ts';
import { amountFromNumber, chargeOn, isAmount } from './money.ts';
import { type Context, type Settings, timestamp } from './settings.ts';
import type { Outcome, Payment, State } from './state.ts';

const MAX_URL_LENGTH = 2048;
const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/** Whether a text has the form of an e-mail address: one @, a dotted domain, no white space. */
export function isEmail(text: string): boolean {
  return EMAIL.test(text);
}

/** Characters as people count them (code points), not bytes or UTF-16 units. */
export function characters(text: string): number {
  // Texts without surrogates, nearly all of them, need no second look.
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) count--;
    }
  }
  return count;
}

/** Why a text is no absolute http(s) address as the service wants it, or undefined when it is one. */
export function urlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH && characters(text) > MAX_URL_LENGTH) {
    return `may have at most ${MAX_URL_LENGTH} characters (got ${characters(text)})`;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\s\u0000-\u001f\u007f-\u009f]/.test(text)) return 'may not hold spaces or control characters';
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    return `must be an absolute http or https address, such as http://localhost:3000/ipn (got "${shorten(text)}")`;
  }
  return undefined;
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

type Problem = (value: string) => string | undefined;

/** A required text: present, not empty, and without the problem that `problem` looks for. */
export function required(name: string, problem: Problem, meta: { description: string; maxLength?: number }) {
  return z
    .string({
      error: ({ input }) => (input === undefined ? `${name} is required` : `${name} must be text`),
    })
    .check((field) => {
      const message = field.value === '' ? 'is required' : problem(field.value);
      if (message) field.issues.push({ code: 'custom', input: field.value, message: `${name} ${message}` });
    })
    .register(z.globalRegistry, meta);
}

/** At most `max` characters. When loose the value is taken whole, however long. */
export function atMost(max: number, loose: boolean): Problem {
  return (value) => {
    if (loose || value.length <= max) return undefined;
    const length = characters(value);
    return length > max ? `may have at most ${max} characters (got ${length})` : undefined;
  };
}

/** A valid e-mail address of at most `max` characters. */
export function emailProblem(max: number, loose: boolean): Problem {
  const length = atMost(max, loose);
  return (value) =>
    length(value) ??
    (isEmail(value) ? undefined : `must be a valid e-mail address (got "${shorten(value)}")`);
}

function amountProblem(value: string): string | undefined {
  if (isAmount(value)) return undefined;
  return `must be a plain decimal greater than 0 with at most 20 digits and 8 decimals, such as 100 or 49.90 (got "${shorten(value)}")`;
}

/**
 * The message of initiate. Names, limits and which fields are required: documented. The form of amount and
 * addresses: chosen. Loose accepts what published clients send all the same (observed).
 */
function initiateSchema(loose: boolean) {
  const textField = (name: string, max: number, description: string) =>
    required(name, atMost(max, loose), { description, maxLength: max });
  const urlField = (name: string, description: string) =>
    required(name, urlProblem, { description, maxLength: MAX_URL_LENGTH });
  const siteLogo = urlField('site_logo', 'Merchant logo address.');
  return z.object({
    public_key: textField('public_key', 50, 'Merchant public API key.'),
    identifier: textField('identifier', 20, "The merchant's own identifier of the payment."),
    currency: textField('currency', 4, 'Currency code in upper case.'),
    amount: required('amount', amountProblem, {
      description: 'Plain decimal text greater than 0; a JSON number is taken when it can be read exactly.',
    }),
    details: textField('details', 100, 'What the payment is for.'),
    ipn_url: urlField('ipn_url', 'Address that receives the IPN.'),
    success_url: urlField('success_url', 'Where the browser goes on success.'),
    cancel_url: urlField('cancel_url', 'Where the browser goes on cancellation.'),
    site_logo: loose ? z.optional(siteLogo) : siteLogo,
    checkout_theme: z.optional(z.enum(['light', 'dark'], { error: 'checkout_theme must be light or dark' })),
    customer_name: textField('customer_name', 30, "The customer's name."),
    customer_email: required('customer_email', emailProblem(30, loose), {
      description: "The customer's e-mail address.",
      maxLength: 30,
    }),
  });
}

const SCHEMAS = { strict: initiateSchema(false), loose: initiateSchema(true) };

/** The message of initiate, as it stands in the OpenAPI document. */
export const InitiateRequest = SCHEMAS.strict;
type InitiateFields = z.infer<typeof InitiateRequest> | z.infer<typeof SCHEMAS.loose>;

const FIELD_NAMES = new Set(Object.keys(SCHEMAS.strict.shape));
const OPTIONAL = { strict: ['checkout_theme'], loose: ['checkout_theme', 'site_logo'] } as const;

/** What a merchant posted: the values by field name, and how an amount that came as a JSON number was written. */
export interface InitiateInput {
  fields: Readonly<Record<string, unknown>>;
  amountSource?: string;
}

/**
 * Rule: a merchant initiates a payment. Checks, in this order: all fields at once, the currency, the key.
 *
 * @returns the new pending payment
 * @throws GatewayError `invalid_fields`, `unsupported_currency` or `invalid_api_key`
 */
export function initiate(state: State, input: InitiateInput, mode: Mode, context: Context): Outcome<Payment> {
  const { settings, ids, now } = context;
  const request = parseFields(input, settings);
  const currency = requireCurrency(request.currency, settings);
  const merchant = findByPublicKey(state, request.public_key);
  if (!merchant) {
    const isSecret = findBySecretKey(state, request.public_key) !== undefined;
    throw new GatewayError('invalid_api_key', 'Invalid api key', {
      hint: isSecret
        ? hint`lint: the secret key was sent as public_key; send the public key and keep the secret one on the server`
        : hint`${command('keys show')} prints the public key of this emulator`,
    });
  }
  const payment: Payment = {
    id: unique(ids.payment, (id) => state.payments.get(id) === undefined),
    trx: ids.trx(),
    mode,
    status: 'pending',
    merchantId: merchant.id,
    identifier: request.identifier,
    currency,
    amount: request.amount,
    charge: chargeOn(request.amount, settings.charges.payment),
    details: request.details,
    ipnUrl: request.ipn_url,
    successUrl: request.success_url,
    cancelUrl: request.cancel_url,
    siteLogo: request.site_logo ?? null,
    checkoutTheme: request.checkout_theme ?? 'light',
    customerName: request.customer_name,
    customerEmail: request.customer_email,
    createdAt: timestamp(now),
    auto: autoSettling(
      { identifier: request.identifier, email: request.customer_email, amount: request.amount },
      settings.auto,
      now,
    ),
    expiresAt: settings.paymentExpiresMs === null ? null : timestamp(now + settings.paymentExpiresMs),
    settledAt: null,
    settledBy: null,
    payerEmail: null,
    walletId: null,
    messageId: null,
    warnings: lint(state, input, request, settings),
    history: [],
  };
  return { change: { payments: [payment] }, result: payment };
}

/** Draws until a value is free: with a seed, a restart draws the same values again. */
export function unique(draw: () => string, isFree: (id: string) => boolean): string {
  let id = draw();
  while (!isFree(id)) id = draw();
  return id;
}

function parseFields(input: InitiateInput, settings: Settings): InitiateFields {
  const outcome = tryFields(input, settings.loose ? 'loose' : 'strict');
  if (!Array.isArray(outcome)) return outcome;
  const looseWouldDo = !settings.loose && !Array.isArray(tryFields(input, 'loose'));
  const isJson = Object.keys(input.fields).some((name) => /^\s*\{/.test(name));
  throw new GatewayError('invalid_fields', outcome[0] ?? 'the fields are not valid', {
    problems: outcome,
    ...(looseWouldDo && { hint: hint`${command('start')} ${option('loose')} accepts this request` }),
    ...(isJson && {
      hint: hint`The body looks like JSON but came as a form: send Content-Type: application/json`,
    }),
  });
}

function tryFields(input: InitiateInput, strictness: 'strict' | 'loose'): InitiateFields | string[] {
  const values: Record<string, unknown> = { ...input.fields };
  for (const name of OPTIONAL[strictness]) if (values[name] === '') delete values[name];
  for (const name of FIELD_NAMES) if (values[name] === null) delete values[name];
  let numberProblem: string | undefined;
  if (typeof values['amount'] === 'number') {
    values['amount'] = amountFromNumber(values['amount'], input.amountSource);
    if (values['amount'] === undefined) {
      numberProblem = 'amount cannot be read exactly from this JSON number: send a string, such as "49.90"';
    }
  }
  const parsed = SCHEMAS[strictness].safeParse(values);
  if (parsed.success) return parsed.data;
  return parsed.error.issues.map(({ message, path }) =>
    numberProblem && path[0] === 'amount' ? numberProblem : message,
  );
}

function requireCurrency(given: string, settings: Settings): string {
  if (settings.currencies.has(given)) return given;
  const upper = given.toUpperCase();
  const known = settings.currencies.has(upper);
  if (known && settings.loose) return upper;
  const codes = [...settings.currencies.keys()].join(', ');
  const problem = known
    ? `currency must be in upper case: ${upper} (got "${shorten(given)}")`
    : `currency "${shorten(given)}" is not supported: this gateway has ${codes}`;
  throw new GatewayError('unsupported_currency', problem, {
    hint: known
      ? hint`${command('start')} ${option('loose')} accepts lower-case currencies`
      : hint`${command('start')} ${option('currency', /^[A-Z0-9]{2,4}$/.test(upper) ? upper : 'CODE')} adds it`,
  });
}

/** What is allowed but probably a mistake. Never changes the answer; shown where the developer looks. */
function lint(state: State, input: InitiateInput, request: InitiateFields, settings: Settings): string[] {
  const warnings: string[] = [];
  if (state.hasIdentifier(request.identifier)) {
    warnings.push(
      `identifier "${request.identifier}" was used before: this is a new payment with the same identifier`,
    );
  }
  const unreachable = settings.unreachable(request.ipn_url);
  if (unreachable) warnings.push(`ipn_url cannot be reached from here: ${unreachable}`);
  if (host(request.success_url) !== host(request.cancel_url)) {
    warnings.push('success_url and cancel_url are on different hosts');
  }
  if (typeof input.fields['amount'] === 'number') {
    warnings.push('amount came as a JSON number: send a string, so that no digit can be lost');
  } else if (/\.\d{3}/.test(request.amount)) {
    warnings.push(
      `amount "${request.amount}" has more than two decimals, as a calculation with floats leaves them`,
    );
  }
  const magic = mistypedMagic(request.customer_email);
  if (magic)
    warnings.push(
      `customer_email ${request.customer_email} settles nothing by itself: did you mean ${magic}?`,
    );
  let unknown = 0;
  for (const name in input.fields) {
    if (!FIELD_NAMES.has(name)) {
      if (++unknown <= MAX_UNKNOWN_NAMED) warnings.push(unknownField(name));
    } else if (isSecretKey(state, name, input.fields[name]))
      warnings.push(`the secret key was sent in ${name}`);
  }
  if (unknown > MAX_UNKNOWN_NAMED) {
    warnings.push(
      `and ${unknown - MAX_UNKNOWN_NAMED} more fields that are not part of the interface were ignored`,
    );
  }
  return warnings;
}

/** So many unknown fields are named in the warnings of a payment; warnings are stored, so they must stay few. */
const MAX_UNKNOWN_NAMED = 10;

function unknownField(name: string): string {
  const meant = nearestName(name, FIELD_NAMES);
  return `field "${shorten(name)}" is not part of the interface and was ignored${meant ? ` (did you mean ${meant}?)` : ''}`;
}

function isSecretKey(state: State, name: string, value: unknown): boolean {
  // Addresses, names and texts are the places where a key would not be refused anyway.
  return name !== 'public_key' && typeof value === 'string' && value.startsWith('sec_')
    ? findBySecretKey(state, value) !== undefined
    : false;
}

function host(url: string): string {
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
}

const MAX_HISTORY = 100;

/** The payment with one more event in its history, which is bounded: a reload loop on a page must not grow it forever. */
export function withEvent(
  payment: Payment,
  now: number,
  event: PaymentEvent['event'],
  detail: string | null = null,
): Payment {
  if (payment.history.length >= MAX_HISTORY && event !== 'settled') return payment;
  return { ...payment, history: [...payment.history, { at: timestamp(now), event, detail }] };
}

/**
 * The payment that a reference names.
 *
 * @throws GatewayError `not_found`
 */
export function requirePayment(state: State, reference: string): Payment {
  const payment = state.findPayment(reference);
  if (payment) return payment;
  throw new GatewayError('not_found', `no payment has the id or identifier "${shorten(reference)}"`, {
    hint: hint`${command('payments')} lists what there is.`,
  });
}
