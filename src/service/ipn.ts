import type * as z from 'zod/mini';
import { amountProblem, CURRENCY_CODE, isAmount } from '../contract/amount.ts';
import { GatewayError, hint } from '../contract/error.ts';
import { field, record, text } from '../contract/field.ts';
import { FORM_TYPE, JSON_TYPE } from '../contract/media-types.ts';
import { INITIATE_FIELDS } from '../contract/request-fields.ts';
import { DEFAULT_KEYS } from '../contract/sample-values.ts';
import type { Tampered, Tampering } from '../contract/tampering.ts';
import { timestamp } from '../contract/time.ts';
import { type IpnFormat, SENT_ON_REQUEST } from '../contract/vocabulary.ts';
import type {
  ChosenFields,
  ComposedIpn,
  Composition,
  IpnComposer,
  IpnSettings,
  IpnSubject,
} from '../domain/ipn.ts';
import { DOCUMENTED_CURRENCIES, renderAmount } from '../domain/money.ts';
import type { Payment } from '../domain/state.ts';
import { encodedForm, formOf } from './encoding.ts';
import { fingerprint, sign } from './signature.ts';

/**
 * The signed text has no separator between amount and identifier (documented: signature-identifier-digits). Payments
 * therefore have the same signature if amount and identifier form the same text together.
 *
 * @returns another amount and identifier with the same signature; null if there is none
 */
export function splice(amount: string, identifier: string): Record<'amount' | 'identifier', string> | null {
  const signed = amount + identifier;
  for (let cut = 1; cut < amount.length; cut++) {
    const [head, tail] = [signed.slice(0, cut), signed.slice(cut)];
    if (isAmount(head) && tail.length <= INITIATE_FIELDS.identifier.max)
      return { amount: head, identifier: tail };
  }
  return null;
}

/** An IPN that is signed with the example key. */
const IPN_EXAMPLE = {
  status: 'success',
  signature: sign('100.00', 'order-1', DEFAULT_KEYS.secretKey),
  identifier: 'order-1',
  data: {
    payment_trx: 'K7Q2M9X4ZT1W',
    amount: '100.00',
    account_holder: 'Ada Example',
    payment_type: 'hosted',
    payment_timestamp: '2026-05-01 09:30:00',
    charge: '2.00',
    currency: { code: 'USD', symbol: '$' },
  },
};

const IpnCurrency = record('IpnCurrency', 'The currency of a payment.', {
  code: field(text, 'Its code.'),
  symbol: field(text, 'Its symbol.'),
});

const IpnData = record('IpnData', 'The payment.', {
  payment_trx: field(text, 'Transaction id: 12 upper-case letters and digits.'),
  amount: field(text, 'Text, exactly as sent to initiate unless --amount-format says otherwise.'),
  account_holder: field(text, 'Holder of the wallet in live mode, otherwise customer_name.'),
  payment_type: field(text, 'Always `hosted`.'),
  payment_timestamp: field(text, 'Time of initiation, YYYY-MM-DD HH:MM:SS in UTC.', {
    pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$',
  }),
  charge: field(text, "The merchant's charge. The service interface calls it charges."),
  currency: field(IpnCurrency, 'The currency.'),
});

/** The fields of an IPN. All values are text. */
export const Ipn = record(
  'Ipn',
  'The IPN that a merchant receives. Inside data, only amount, charges, currency and the transaction id are documented. Deployments show the other names. In a form, nested names are written data[amount].',
  {
    status: field(
      text,
      `\`success\`; ${SENT_ON_REQUEST.map((status) => `\`${status}\``).join(', ')} only with --ipn-on.`,
    ),
    signature: field(
      text,
      'Upper-case hex HMAC-SHA256 over data.amount followed by identifier, keyed with the secret key.',
      { pattern: '^[0-9A-F]{64}$' },
    ),
    identifier: field(text, "The merchant's identifier as sent to initiate."),
    data: field(IpnData, 'The payment.'),
  },
  IPN_EXAMPLE,
);
type IpnFields = z.infer<typeof Ipn>;

interface Subject extends Omit<IpnSubject, 'payment'> {
  payment: Pick<Payment, 'identifier' | 'mode' | 'trx' | 'amount' | 'currency' | 'charge' | 'createdAt'>;
}

export function ipnFields(
  { payment, status, holder, secretKey }: Subject,
  { ipn, currencies }: IpnSettings,
): IpnFields {
  const amount = renderAmount(payment.amount, ipn.amountFormat);
  return {
    status,
    signature: sign(amount, payment.identifier, secretKey),
    identifier: payment.identifier,
    data: {
      payment_trx: payment.trx,
      amount,
      account_holder: holder,
      payment_type: 'hosted',
      payment_timestamp: payment.createdAt.slice(0, 19).replace('T', ' '),
      charge: payment.charge,
      currency: {
        code: payment.currency,
        symbol: currencies.get(payment.currency)?.symbol ?? payment.currency,
      },
    },
  };
}

const CONTENT_TYPES = {
  form: FORM_TYPE,
  json: JSON_TYPE,
} as const satisfies Record<IpnFormat, string>;

/** The encoded body of an IPN: a form with PHP-style nested names (observed: ipn-nested-names), or JSON in which the amount stays a string. */
export function encodeIpn(fields: object, format: IpnFormat): { contentType: string; body: string } {
  const contentType = CONTENT_TYPES[format];
  if (format === 'json') return { contentType, body: JSON.stringify(fields) };
  return { contentType, body: encodedForm(formOf(fields)) };
}

const resigned: IpnComposer['resigned'] = (body, signedText, secretKey) => {
  const signature = sign(signedText, '', secretKey);
  if (body.includes(signature)) return undefined;
  return body.replace(/(\bsignature(?:=|":"))[^&"]*/, `$1${signature}`);
};

/** Changes the first digit, for a signature that must not match. */
function otherDigit(text: string): string {
  return (text.startsWith('0') ? '1' : '0') + text.slice(1);
}

/** Works for JSON and forms. */
const corruptSignature: IpnComposer['corruptSignature'] = (body) =>
  body.replace(
    /((?:^|&)signature=|"signature":")(.)/,
    (_, name: string, digit: string) => name + otherDigit(digit),
  );

/** Fields, lists and groups of fields, nested at any depth. */
export interface Fields {
  readonly [name: string]: string | readonly string[] | Fields;
}

const FIELD_NAME = /^(?!.*__proto__)[A-Za-z0-9_-]{1,40}(\.[A-Za-z0-9_-]{1,40}){0,4}$/;

/** Converts a form name such as `data[amount]` to a dotted one. Keeps `[]` at the end. */
export const toDottedName = (name: string): string => name.replace(/\[([^[\]]+)\]/g, '.$1');

/**
 * The fields to set, by dotted names: single values, and lists, whose names end in `[]`.
 *
 * @throws GatewayError `invalid_fields` for a list under a name without `[]`
 */
function readSet(set: Readonly<Record<string, string | readonly string[]>>) {
  const values: [string, string][] = [];
  const lists: [string, readonly string[]][] = [];
  for (const [written, value] of Object.entries(set)) {
    const name = toDottedName(written);
    if (name.endsWith('[]')) lists.push([name.slice(0, -2), [value].flat()]);
    else if (typeof value === 'string') values.push([name, value]);
    else throw invalid(`set ${name}: use the name ${name}[] for a list`);
  }
  return { values, lists };
}

/**
 * Sets the value of a dotted name.
 *
 * @throws GatewayError `invalid_fields` for an invalid name
 */
export function override<All extends Fields>(
  fields: All,
  name: string,
  value: string | readonly string[],
): All {
  if (!FIELD_NAME.test(name)) {
    throw invalid(`set expects field names such as status or data.charge (got "${name.slice(0, 80)}")`);
  }
  const within = <Group extends Fields>(group: Group, [part = '', ...inner]: readonly string[]): Group => {
    const old = Object.hasOwn(group, part) ? group[part] : undefined;
    if (inner.length) {
      if (old !== undefined && !isGroup(old)) {
        throw invalid(`set ${name}: ${part} is a single value, not a group of fields`);
      }
      return { ...group, [part]: within(old ?? {}, inner) };
    }
    if (!isGroup(old)) return { ...group, [part]: value };
    const names = Object.keys(old).map((key) => `${name}.${key}`);
    throw invalid(`set ${name}: it is a group of fields; set ${names.join(', ')}`);
  };
  return within(fields, name.split('.'));
}

/**
 * Removes the field with a dotted name.
 *
 * @throws GatewayError `invalid_fields` if it does not exist
 */
function without(fields: Fields, name: string): Fields {
  const within = (group: Fields, [part = '', ...inner]: readonly string[]): Fields => {
    const { [part]: old, ...rest } = group;
    if (old === undefined || !Object.hasOwn(group, part)) throw noSuchField(name, group);
    if (!inner.length) return rest;
    if (!isGroup(old)) throw noSuchField(name, group);
    return { ...group, [part]: within(old, inner) };
  };
  return within(fields, name.split('.'));
}

function noSuchField(name: string, group: Fields): GatewayError {
  return invalid(`unset: unknown field ${name.slice(0, 80)}; known: ${Object.keys(group).join(', ')}`);
}

function isGroup(value: Fields[string] | undefined): value is Fields {
  return typeof value === 'object' && !Array.isArray(value);
}

function invalid(message: string): GatewayError {
  return new GatewayError('invalid_fields', message);
}

const CURRENCIES = new Map(DOCUMENTED_CURRENCIES.map((currency) => [currency.code, currency]));

/** An IPN for a payment that does not exist. @throws GatewayError `invalid_fields` */
export function invent(
  chosen: ChosenFields,
  { trx, now, secretKey }: { trx: string; now: number; secretKey: string },
  composition: Composition,
): ComposedIpn {
  const made = { identifier: `sim-${trx}`, amount: '100.00', currency: 'USD', charge: '0.00' };
  const payment = { ...made, mode: 'sandbox' as const, trx, createdAt: timestamp(now) };
  return write(chosen, { payment, status: 'success', holder: 'Ada Example', secretKey }, composition, {
    ipn: { amountFormat: 'sent' },
    currencies: CURRENCIES,
  });
}

const compose: IpnComposer['compose'] = (chosen, subject, composition, settings) =>
  'payment' in subject ? write(chosen, subject, composition, settings) : invent(chosen, subject, composition);

export const composer: IpnComposer = { compose, resigned, fingerprint, corruptSignature };

/** Builds an IPN: applies the chosen values, removes fields, overrides fields by name, signs, and tampers. */
function write(
  chosen: ChosenFields,
  subject: Subject,
  { set = {}, unset = [], tamper = new Map(), format }: Composition,
  settings: IpnSettings,
): ComposedIpn {
  requireFields(chosen);
  const { payment, secretKey } = subject;
  const { identifier = payment.identifier, amount = payment.amount, currency = payment.currency } = chosen;
  const about = { ...subject, status: chosen.status ?? subject.status };
  let ipn = ipnFields({ ...about, payment: { ...payment, identifier, amount, currency } }, settings);
  const { values, lists } = readSet(set);
  const removed = [unset].flat().map(toDottedName);
  // A removed field may be any part of the IPN, and may be set again.
  for (const name of removed) if (name !== 'signature') ipn = without(ipn, name) as IpnFields;
  for (const [name, value] of values) ipn = override(ipn, name, value);
  const signedText = [ipn.data?.amount, ipn.identifier].filter((part) => part !== undefined).join('');
  const key = tamper.has('secret') ? `not-${secretKey}` : secretKey;
  const isChanged = values.length > 0 || removed.length > 0 || key !== secretKey;
  if (isChanged && !Object.hasOwn(set, 'signature')) ipn.signature = sign(signedText, '', key);
  const tampered: Tampered[] = [];
  let sent = ipn;
  for (const [what, value] of tamper) {
    const before = sent;
    const { read, forge } = FORGERIES[what];
    if (read && read(before) === undefined) throw invalid(`tamper ${what}: the field was removed with unset`);
    sent = forge(before, value);
    const [was, is] = [read?.(before) ?? null, read?.(sent) ?? null];
    // An equal value is not a forgery.
    if (!read || was !== is) tampered.push({ what, was, is });
  }
  let written: Fields = sent;
  for (const [name, list] of lists) written = override(written, name, list);
  if (removed.includes('signature') && !Object.hasOwn(set, 'signature'))
    written = without(written, 'signature');
  return {
    ...encodeIpn(written, format),
    signedText,
    identifier: ipn.identifier ?? identifier,
    status: sent.status ?? about.status,
    tampered,
    isSigned: !tampered.length && ![...Object.keys(set), ...[unset].flat()].some(isSignature),
  };
}

function requireFields({ amount, currency }: ChosenFields): void {
  const problems: string[] = [];
  const problem = amount === undefined ? undefined : amountProblem(amount);
  if (problem) problems.push(`amount ${problem}`);
  if (currency !== undefined && !CURRENCY_CODE.test(currency)) {
    problems.push(`currency must be an upper-case code, such as USD (got "${currency}")`);
  }
  const [first] = problems;
  if (first === undefined) return;
  throw new GatewayError('invalid_fields', first, {
    problems,
    hint: hint`To send an invalid value anyway, override it with set.`,
  });
}

const isSignature = (name: string) => /^signature(\[\])?$/.test(name);

interface Forgery {
  /** The value to show; omitted where it does not matter. */
  read?: (ipn: Partial<IpnFields>) => string | undefined;
  /** Uses the requested value, or generates one. */
  forge: (ipn: IpnFields, value: string | null) => IpnFields;
}

const FORGERIES: Readonly<Record<Tampering, Forgery>> = {
  signature: { forge: (ipn) => ({ ...ipn, signature: otherDigit(ipn.signature) }) },
  amount: {
    read: ({ data }) => data?.amount,
    forge: (ipn, value) => ({ ...ipn, data: { ...ipn.data, amount: value ?? `9${ipn.data.amount}` } }),
  },
  identifier: {
    read: ({ identifier }) => identifier,
    forge: (ipn, value) => ({ ...ipn, identifier: value ?? `${ipn.identifier}X` }),
  },
  // Neither status nor currency is signed: a receiver must check them itself.
  status: {
    read: ({ status }) => status,
    forge: (ipn, value) => ({ ...ipn, status: value ?? 'failed' }),
  },
  currency: {
    read: ({ data }) => data?.currency?.code,
    forge: (ipn, value) => {
      const { currency } = ipn.data;
      const code = value ?? (currency.code === 'GNF' ? 'USD' : 'GNF');
      const symbol = CURRENCIES.get(code)?.symbol ?? code;
      return { ...ipn, data: { ...ipn.data, currency: { ...currency, code, symbol } } };
    },
  },
  case: { forge: (ipn) => ({ ...ipn, signature: ipn.signature.toLowerCase() }) },
  // Signing has already used the wrong secret.
  secret: { forge: (ipn) => ipn },
};
