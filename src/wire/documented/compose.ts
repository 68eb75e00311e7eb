import { isAmount } from '../../contract/amount.ts';
import { GatewayError } from '../../contract/error.ts';
import { hint } from '../../contract/hint.ts';
import type { Tampered, Tampering } from '../../contract/tampering.ts';
import { timestamp } from '../../contract/timestamp.ts';
import type { ChosenFields, ComposedIpn, Composition, IpnComposer, IpnSettings } from '../../domain/ipn.ts';
import { DOCUMENTED_CURRENCIES } from '../../domain/money.ts';
import type { IpnTools } from '../dialect.ts';
import { dotted, type Fields, override, readSet, without } from './chosen-fields.ts';
import { encodeIpn, type IpnFields, ipnFields, otherDigit, type Subject } from './ipn.ts';
import { sign } from './signature.ts';

const CURRENCIES = new Map(DOCUMENTED_CURRENCIES.map((currency) => [currency.code, currency]));

export const invent: IpnTools['invent'] = (chosen, { trx, now, secretKey }, composition) => {
  const made = { identifier: `sim-${trx}`, amount: '100.00', currency: 'USD', charge: '0.00' };
  const payment = { ...made, mode: 'sandbox' as const, trx, createdAt: timestamp(now) };
  return write(chosen, { payment, status: 'success', holder: 'Ada Example', secretKey }, composition, {
    ipn: { amountFormat: 'sent' },
    currencies: CURRENCIES,
  });
};

export const composeChosen: IpnComposer['composeChosen'] = (chosen, subject, composition, settings) =>
  'payment' in subject ? write(chosen, subject, composition, settings) : invent(chosen, subject, composition);

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
  const removed = [unset].flat().map(dotted);
  // A removed field may be any part of the IPN, and may be set again.
  for (const name of removed) if (name !== 'signature') ipn = without(ipn, name) as IpnFields;
  for (const [name, value] of values) ipn = override(ipn, name, value);
  const signedText = [ipn.data?.amount, ipn.identifier].filter((part) => part !== undefined).join('');
  const key = tamper.has('secret') ? `not-${secretKey}` : secretKey;
  if (!Object.hasOwn(set, 'signature')) ipn.signature = sign(signedText, '', key);
  const tampered: Tampered[] = [];
  let sent = ipn;
  for (const [what, value] of tamper) {
    const before = sent;
    const read = READERS[what];
    if (read && read(before) === undefined) {
      throw new GatewayError('invalid_fields', `tamper ${what}: the field was removed with unset`);
    }
    sent = TAMPERERS[what](before, value);
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
  };
}

function requireFields({ amount, currency }: ChosenFields): void {
  const problems: string[] = [];
  if (amount !== undefined && !isAmount(amount)) {
    problems.push(`amount must be a plain decimal greater than 0, such as 250.00 (got "${amount}")`);
  }
  if (currency !== undefined && !/^[A-Z0-9]{2,4}$/.test(currency)) {
    problems.push(`currency must be an upper-case code, such as USD (got "${currency}")`);
  }
  const [first] = problems;
  if (first === undefined) return;
  throw new GatewayError('invalid_fields', first, {
    problems,
    hint: hint`To send an invalid value anyway, override it with set.`,
  });
}

/** Each function uses the requested value, or generates one. */
const TAMPERERS: Readonly<Record<Tampering, (ipn: IpnFields, value: string | null) => IpnFields>> = {
  signature: (ipn) => ({ ...ipn, signature: otherDigit(ipn.signature) }),
  amount: (ipn, value) => ({ ...ipn, data: { ...ipn.data, amount: value ?? `9${ipn.data.amount}` } }),
  identifier: (ipn, value) => ({ ...ipn, identifier: value ?? `${ipn.identifier}X` }),
  // Neither status nor currency is signed: a receiver must check them itself.
  status: (ipn, value) => ({ ...ipn, status: value ?? 'failed' }),
  currency: (ipn, value) => {
    const { currency } = ipn.data;
    const code = value ?? (currency.code === 'GNF' ? 'USD' : 'GNF');
    const symbol = CURRENCIES.get(code)?.symbol ?? code;
    return { ...ipn, data: { ...ipn.data, currency: { ...currency, code, symbol } } };
  },
  case: (ipn) => ({ ...ipn, signature: ipn.signature.toLowerCase() }),
  // Signing has already used the wrong secret.
  secret: (ipn) => ipn,
};

/** Values to show for forged fields; null where the value does not matter. */
const READERS: Readonly<Record<Tampering, ((ipn: Partial<IpnFields>) => string | undefined) | null>> = {
  amount: ({ data }) => data?.amount,
  identifier: ({ identifier }) => identifier,
  status: ({ status }) => status,
  currency: ({ data }) => data?.currency?.code,
  signature: null,
  case: null,
  secret: null,
};
