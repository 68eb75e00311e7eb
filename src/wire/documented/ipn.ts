import type * as z from 'zod/mini';
import { isAmount } from '../../contract/amount.ts';
import { field, record, text } from '../../contract/field.ts';
import { SENT_ON_REQUEST } from '../../contract/outcomes.ts';
import type { IpnFormat } from '../../contract/vocabulary.ts';
import type { IpnComposer, IpnSettings, IpnSubject } from '../../domain/ipn.ts';
import { renderAmount } from '../../domain/money.ts';
import type { Payment } from '../../domain/state.ts';
import type { IpnTools } from '../dialect.ts';
import { formOf } from '../form.ts';
import { MAX_IDENTIFIER } from './names.ts';
import { sign } from './signature.ts';

/**
 * The signed text has no separator between amount and identifier (documented: signature-identifier-digits). Payments
 * therefore have the same signature if amount and identifier form the same text together.
 */
export const splice: IpnTools['splice'] = (amount, identifier) => {
  const signed = amount + identifier;
  for (let cut = 1; cut < amount.length; cut++) {
    const [head, tail] = [signed.slice(0, cut), signed.slice(cut)];
    if (isAmount(head) && tail.length <= MAX_IDENTIFIER) return { amount: head, identifier: tail };
  }
  return null;
};

export const IPN_EXAMPLE = {
  status: 'success',
  signature: '50D858E0985ECC7F60418AAF0CC5AB587F42C2570A884095A9E8CCACD0F6545C',
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
);
export type IpnFields = z.infer<typeof Ipn>;

/** The subject of an IPN. */
export interface Subject extends Omit<IpnSubject, 'payment'> {
  payment: Pick<Payment, 'identifier' | 'mode' | 'trx' | 'amount' | 'currency' | 'charge' | 'createdAt'>;
}

export function ipnFields(
  { payment, status, holder, secretKey }: Subject,
  { ipn, currencies }: IpnSettings,
): IpnFields {
  const amount = renderAmount(payment.amount, ipn.amountFormat, payment.mode);
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
  form: 'application/x-www-form-urlencoded',
  json: 'application/json',
} as const satisfies Record<IpnFormat, string>;

/** The encoded body of an IPN: a form with PHP-style nested names (observed: ipn-nested-names), or JSON in which the amount stays a string. */
export function encodeIpn(fields: object, format: IpnFormat): { contentType: string; body: string } {
  const contentType = CONTENT_TYPES[format];
  if (format === 'json') return { contentType, body: JSON.stringify(fields) };
  return { contentType, body: formOf(fields).toString() };
}

export const resigned: IpnComposer['resigned'] = (body, signedText, secretKey) => {
  const signature = sign(signedText, '', secretKey);
  if (body.includes(signature)) return undefined;
  return body.replace(/(\bsignature(?:=|":"))[^&"]*/, `$1${signature}`);
};

/** Changes the first digit, for a signature that must not match. */
export function otherDigit(text: string): string {
  return (text.startsWith('0') ? '1' : '0') + text.slice(1);
}

/** Works for JSON and forms. */
export const corruptSignature: IpnComposer['corruptSignature'] = (body) =>
  body.replace(
    /((?:^|&)signature=|"signature":")(.)/,
    (_, name: string, digit: string) => name + otherDigit(digit),
  );
