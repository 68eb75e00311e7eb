import * as z from 'zod/mini';
import { AMOUNT_PATTERN, amountProblem, USUAL_DECIMALS } from '../contract/amount.ts';
import { GatewayError, hint, nearestName } from '../contract/error.ts';
import { field, LINK, optional, record, shapeOf, text as string } from '../contract/field.ts';
import type { PaymentRequest } from '../contract/payment.ts';
import type { Choices } from '../contract/profiles.ts';
import { exampleOf, INITIATE_FIELDS, sentenceOf } from '../contract/request-fields.ts';
import { shorten } from '../contract/text.ts';
import { CHECKOUT_THEMES, DEFAULT_THEME } from '../contract/vocabulary.ts';
import { mistypedMagic } from '../domain/auto.ts';
import { amountFromNumber } from '../domain/money.ts';
import { type InitiateCommand, upperCaseProblem } from '../domain/payment.ts';
import type { Settings } from '../domain/settings.ts';
import type { Payment } from '../domain/state.ts';
import type { PostedFields } from './body.ts';
import { amountSource } from './encoding.ts';
import { address, amountJson, postedMessage, required, textFields, trimmed } from './fields.ts';
import { checkoutUrlOf, fromWire, INITIATE_NAMES } from './names.ts';

/** What initiate accepts. */
type Accepted = Pick<Choices, 'siteLogo' | 'valueLengths'>;

/** What warnings about a request to initiate depend on, apart from the request. */
interface InitiateFacts {
  settings: Settings;
  /** Whether an earlier payment has the identifier. */
  isReused: boolean;
  containsSecretKey: (text: string) => boolean;
}

/** A number is converted to text before the check, unless its digits are lost. */
const otherAmount = (input: unknown) =>
  typeof input === 'number'
    ? 'cannot be read exactly from this JSON number: send a string, such as "49.90"'
    : (amountProblem(input) ?? '');

/**
 * The fields of initiate. Names, limits and required fields: documented. Format of amounts and addresses: chosen.
 * `loose` accepts undocumented values that published clients send (observed: field-logo-optional*, *-any-length, currency-any-case).
 */
function fieldsOf(loose: boolean) {
  const { checkoutTheme, siteLogo, amount } = INITIATE_FIELDS;
  return {
    ...textFields(INITIATE_FIELDS, loose),
    amount: required(
      amountProblem,
      `${sentenceOf(amount)} The IPN signs it exactly as sent; a JSON number is accepted if it can be read exactly.`,
      amountJson(AMOUNT_PATTERN.source),
      otherAmount,
    ),
    site_logo: address(`${sentenceOf(siteLogo)} Optional with \`--loose\`.`, siteLogo.example),
    checkout_theme: field(
      z.optional(z.enum(CHECKOUT_THEMES, { error: `must be ${CHECKOUT_THEMES.join(' or ')}` })),
      sentenceOf(checkoutTheme),
      { default: checkoutTheme.example },
    ),
  };
}

const withLogo = { limited: fieldsOf(false), free: fieldsOf(true) } as const satisfies Record<
  Accepted['valueLengths'],
  unknown
>;

/** What initiate accepts, by the required fields and by the length limits. */
const FORMS = {
  required: { limited: z.object(shapeOf(withLogo.limited)), free: z.object(shapeOf(withLogo.free)) },
  optional: { limited: withoutLogo(withLogo.limited), free: withoutLogo(withLogo.free) },
} as const satisfies Record<Accepted['siteLogo'], unknown>;

function withoutLogo(fields: ReturnType<typeof fieldsOf>) {
  return z.object(shapeOf({ ...fields, site_logo: optional(fields.site_logo) }));
}

export const InitiateRequest = postedMessage(
  'InitiateRequest',
  'What a merchant posts to initiate. Unknown fields are ignored.',
  withLogo.limited,
  exampleOf(INITIATE_FIELDS),
);

type InitiateFields = z.infer<typeof FORMS.optional.limited>;

const FIELD_NAMES = new Set(Object.keys(withLogo.limited));

export const InitiateAnswer = record('InitiateAnswer', 'A payment was initiated.', {
  success: field(z.literal('ok'), 'Always `ok`.'),
  message: field(string, 'For humans.'),
  url: field(string, 'Checkout address with the query `payment_id`: send the customer there.', LINK),
});
export type InitiateAnswer = z.infer<typeof InitiateAnswer>;

export function initiateAnswer(payment: Pick<Payment, 'id' | 'mode'>, baseUrl: string): InitiateAnswer {
  return {
    success: 'ok',
    // Observed: initiate-message.
    message: 'Payment Initiated. Redirect to url.',
    url: checkoutUrlOf(payment, baseUrl),
  };
}

/** @throws GatewayError `invalid_fields` with every problem */
export function readInitiate(posted: PostedFields, accepted: Accepted): InitiateCommand {
  const fields = checked(posted, accepted);
  const {
    publicKey,
    siteLogo = null,
    checkoutTheme = DEFAULT_THEME,
    ...request
  } = fromWire(INITIATE_NAMES, fields);
  return { publicKey, request: { ...request, siteLogo, checkoutTheme } };
}

/** Warnings about a request that `readInitiate` accepts. */
export function initiateWarnings(
  posted: PostedFields,
  request: PaymentRequest,
  facts: InitiateFacts,
): string[] {
  return [
    ...requestWarnings(request, facts),
    ...fieldWarnings(posted, request, facts),
    ...strictProblems(posted, facts.settings.choices).map(strictWarning),
  ];
}

function checked(posted: PostedFields, accepted: Accepted): InitiateFields {
  const outcome = tryReading(posted, accepted);
  if (!Array.isArray(outcome)) return outcome;
  const names = Object.keys(posted.fields);
  const isJson = names.some((name) => /^\s*\{/.test(name));
  const problems = [...wrongSeparator(names), ...markedName(names), ...outcome];
  throw new GatewayError('invalid_fields', problems[0] ?? 'the fields are not valid', {
    problems,
    ...(isJson && {
      hint: hint`The body looks like JSON but was sent as a form: use Content-Type: application/json`,
    }),
  });
}

/** The cause of missing fields if a PHP setting separates them with an HTML escape. */
function wrongSeparator(names: readonly string[]): string[] {
  const escaped = names.filter(
    (name) => name.startsWith('amp;') && FIELD_NAMES.has(name.slice('amp;'.length)),
  );
  if (!escaped.length) return [];
  const received = escaped.map((name) => `"${name}"`).join(', ');
  return [
    `the fields are separated by "&amp;" instead of "&", so these were received: ${received}. PHP's setting arg_separator.output is "&amp;": call http_build_query($fields, '', '&')`,
  ];
}

/** The cause of a missing field that is the first in a body with a byte order mark. */
function markedName(names: readonly string[]): string[] {
  const marked = names.find((name) => name.startsWith('\uFEFF') && FIELD_NAMES.has(name.slice(1)));
  if (marked === undefined) return [];
  return [
    `the body begins with a byte order mark, which is a part of the name ${marked.slice(1)}: send UTF-8 without it`,
  ];
}

/** The values of the fields, or every problem with them. */
function tryReading(posted: PostedFields, { valueLengths, siteLogo }: Accepted): InitiateFields | string[] {
  const form = FORMS[siteLogo][valueLengths];
  const values = trimmed(posted.fields);
  if (typeof values['amount'] === 'number') {
    values['amount'] = amountFromNumber(values['amount'], amountSource(posted)) ?? values['amount'];
  }
  const read = form.safeParse(values);
  return read.success
    ? read.data
    : read.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
}

/** Maximum number of unknown fields named in the warnings of a payment: warnings are stored, so they must stay few. */
const MAX_UNKNOWN_NAMED = 10;

/** Probable mistakes that depend on more than one field, or on the emulator. */
function requestWarnings(request: PaymentRequest, { settings, isReused }: InitiateFacts): string[] {
  const { identifier, currency, ipnUrl, successUrl, cancelUrl, siteLogo } = request;
  const { currencies, looksLocal, ipn } = settings;
  const warnings: string[] = [];
  if (isReused)
    warnings.push(
      `identifier "${identifier}" was used before: this is a new payment with the same identifier`,
    );
  const unreachable = settings.unreachable(ipnUrl);
  if (unreachable) warnings.push(`ipn_url may not receive IPNs: ${unreachable}`);
  if (host(successUrl) !== host(cancelUrl))
    warnings.push('success_url and cancel_url are on different hosts');
  if (ipnUrl === successUrl)
    warnings.push('ipn_url and success_url are the same address: a browser visit does not prove a payment');
  if (ipnUrl === siteLogo)
    warnings.push('ipn_url and site_logo are the same address: the checkout loads it as an image');
  if (looksLocal(ipn.forwardTo ?? ipnUrl) && !looksLocal(successUrl))
    warnings.push(
      'success_url is public, but the IPN address is local: the browser leaves the local shop (forward its host with --forward-ipn to keep it there)',
    );
  if (!currencies.has(currency)) warnings.push(strictWarning(upperCaseProblem(currency)));
  const addresses = { ipn_url: ipnUrl, success_url: successUrl, cancel_url: cancelUrl, site_logo: siteLogo };
  for (const [name, url] of Object.entries(addresses)) {
    const unusual = url && UNUSUAL.exec(url)?.[1];
    if (unusual) warnings.push(strictWarning(`${name} contains ${unusual}, which must be percent-encoded`));
  }
  return warnings;
}

/** A character after the host that Laravel's rule `url` rejects since version 6 (chosen: field-ipn-url-brace). */
const UNUSUAL = /^https?:\/\/[^/?#]*[/?#].*?([^\p{L}\p{N}\-._~!$&'()*+,;=:@/?#%[\]]|%(?![\da-f]{2}))/iu;

function host(url: string): string {
  return /^https?:\/\/([^/?#]*)/i.exec(url)?.[1]?.toLowerCase() ?? '';
}

/** Probable mistakes in the fields as sent. */
function fieldWarnings(
  { fields }: PostedFields,
  { amount, currency, customerEmail }: PaymentRequest,
  { containsSecretKey, settings }: InitiateFacts,
): string[] {
  const warnings: string[] = [];
  const usual = Math.max(USUAL_DECIMALS, settings.currencies.get(currency)?.decimals ?? 0);
  if (typeof fields['amount'] === 'number') {
    warnings.push('amount is a JSON number: send a string, so that no digits are lost');
  } else if ((amount.split('.')[1]?.length ?? 0) > usual) {
    warnings.push(
      `amount "${amount}" has more than ${usual} decimals, like the result of a floating-point calculation`,
    );
  }
  const magic = mistypedMagic(customerEmail);
  if (magic) {
    warnings.push(`customer_email ${customerEmail} does not settle the payment: did you mean ${magic}?`);
  }
  let unknown = 0;
  for (const name in fields) {
    if (!FIELD_NAMES.has(name) && ++unknown <= MAX_UNKNOWN_NAMED) warnings.push(unknownField(name));
    if (name === 'public_key' || unknown > MAX_UNKNOWN_NAMED) continue;
    const value = fields[name];
    if (typeof value === 'string' && containsSecretKey(value)) {
      warnings.push(`the secret key was sent in ${shorten(name)}`);
    }
  }
  const more = unknown - MAX_UNKNOWN_NAMED;
  if (more > 0) warnings.push(`and ${more} more fields that are not part of the interface were ignored`);
  return warnings;
}

const STRICT = { valueLengths: 'limited', siteLogo: 'required' } as const satisfies Accepted;

/** A warning about a request that only `--loose` accepts. */
function strictWarning(problem: string): string {
  return `a stricter deployment rejects this: ${problem}`;
}

/** Problems that only a loose gateway accepts. */
function strictProblems(posted: PostedFields, { valueLengths, siteLogo }: Accepted): string[] {
  if (valueLengths === STRICT.valueLengths && siteLogo === STRICT.siteLogo) return [];
  const outcome = tryReading(posted, STRICT);
  return Array.isArray(outcome) ? outcome : [];
}

/** Maximum distance of a typo. Clients send their own fields with similar names, such as customer_phone (observed: initiate-unknown-*). */
const MAX_TYPO_DISTANCE = 2;

function unknownField(name: string): string {
  const meant = nearestName(name, FIELD_NAMES, MAX_TYPO_DISTANCE);
  return `field "${shorten(name)}" is not part of the interface and was ignored${meant ? ` (did you mean ${meant}?)` : ''}`;
}
