import { isAmount } from '../../contract/amount.ts';
import { GatewayError } from '../../contract/error.ts';
import { hint } from '../../contract/hint.ts';
import { timestamp } from '../../contract/timestamp.ts';
import type { Tampering } from '../../contract/vocabulary.ts';
import type { ChosenFields, ComposedIpn, Composition, IpnSubject } from '../../domain/ipn.ts';
import { DOCUMENTED_CURRENCIES } from '../../domain/money.ts';
import type { Settings } from '../../domain/settings.ts';
import { encodeIpn, type IpnFields, ipnFields, ipnTime, otherDigit, sign } from './ipn.ts';

/** The fields of an IPN for a payment that never was. */
export function inventedFields(chosen: ChosenFields, made: { trx: string; now: number }): IpnFields {
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
      payment_timestamp: ipnTime(timestamp(made.now)),
      charge: '0.00',
      currency: { code: currency, symbol: symbolOf(currency) },
    },
  };
}

/**
 * The fields of an IPN about a payment, some of them chosen.
 *
 * @throws GatewayError `invalid_fields`
 */
export function chosenFields(chosen: ChosenFields, subject: IpnSubject, settings: Settings): IpnFields {
  requireFields(chosen);
  const { payment } = subject;
  const { identifier = payment.identifier, amount = payment.amount, currency = payment.currency } = chosen;
  const status = chosen.status ?? subject.status;
  return ipnFields({ ...subject, status, payment: { ...payment, identifier, amount, currency } }, settings);
}

function requireFields({ amount, currency }: ChosenFields): void {
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

function symbolOf(code: string): string {
  return DOCUMENTED_CURRENCIES.find((currency) => currency.code === code)?.symbol ?? code;
}

/** Group of fields by name, nested as deep as the overrides want. */
interface Fields {
  [name: string]: string | Fields;
}

/**
 * Overrides fields, signs the result, and then tampers with it.
 *
 * @throws GatewayError `invalid_fields` for an override whose name cannot be one
 */
export function composeIpn(fields: IpnFields, secretKey: string, composition: Composition): ComposedIpn {
  const { set = {}, tamper, format } = composition;
  const nested = structuredClone(fields) as unknown as Fields;
  for (const [name, value] of Object.entries(set)) override(nested, name, value);
  const changed = nested as unknown as IpnFields;
  const { identifier, status } = changed;
  const { amount } = changed.data;
  const key = tamper === 'secret' ? `not-${secretKey}` : secretKey;
  if (!Object.hasOwn(set, 'signature')) changed.signature = sign(amount, identifier, key);
  if (tamper) TAMPERERS[tamper](changed);
  return { ...encodeIpn(changed, format), signedText: amount + identifier, identifier, status };
}

const FIELD_NAME = /^[A-Za-z0-9_-]{1,40}(\.[A-Za-z0-9_-]{1,40}){0,4}$/;

function override(fields: Fields, name: string, value: string): void {
  const refused = (message: string) => new GatewayError('invalid_fields', message);
  if (!FIELD_NAME.test(name) || name.includes('__proto__')) {
    throw refused(`set takes field names such as status or data.charge (got "${name.slice(0, 80)}")`);
  }
  const path = name.split('.');
  const last = path.pop() ?? '';
  let group = fields;
  for (const part of path) {
    const next = Object.hasOwn(group, part) ? group[part] : {};
    if (typeof next !== 'object') {
      throw refused(`set ${name}: ${part} is a single value, not a group of fields`);
    }
    group[part] = next;
    group = next;
  }
  if (Object.hasOwn(group, last) && typeof group[last] === 'object') {
    const inner = Object.keys(group[last] as Fields).map((key) => `${name}.${key}`);
    throw refused(`set ${name}: it is a group of fields; set ${inner.join(', ')}`);
  }
  group[last] = value;
}

const TAMPERERS = {
  signature: (ipn) => {
    ipn.signature = otherDigit(ipn.signature);
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
