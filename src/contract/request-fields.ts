/*
 * The fields of requests that people write, described once: for the command line, the control API, the service, the
 * library and the documentation. Without a schema library, so that the command line loads them quickly.
 */

import { DEFAULT_THEME } from './vocabulary.ts';

/** A field of a request. */
export interface RequestField {
  /** The value's name in the help, after the flag. */
  placeholder: string;
  /** What it is, as part of a sentence. */
  description: string;
  /** What commands and the library send if it is omitted (chosen). */
  fallback?: string;
  /** What it is if omitted, in words, without a fallback. */
  otherwise?: string;
  /** Maximum number of characters. */
  max?: number;
}

type RequestFields = Readonly<Record<string, RequestField>>;

/** A field of a request to the service. */
export interface ServiceField extends RequestField {
  /** Its name on the wire (documented: field-*-missing). */
  wire: string;
  /** Default: text of at most `max` characters. */
  kind?: 'url' | 'email';
  /** For documents, if it is not the fallback. */
  example?: string;
}

/** What a merchant sends to initiate a payment, in the order of the wire. */
export const INITIATE_FIELDS = {
  publicKey: {
    wire: 'public_key',
    placeholder: 'key',
    max: 50,
    description: "the merchant's public key",
    otherwise: "the first merchant's key",
    example: 'pub_sim_0123456789abcdefghijklmnopqrstuv',
  },
  identifier: {
    wire: 'identifier',
    placeholder: 'text',
    /** (documented: field-identifier-too-long) */
    max: 20,
    description: "the merchant's own identifier for the payment, which may be reused",
    otherwise: 'generated',
    example: 'order-1',
  },
  currency: {
    wire: 'currency',
    placeholder: 'code',
    max: 4,
    description: 'currency code in upper case, such as USD',
    fallback: 'USD',
  },
  amount: {
    wire: 'amount',
    placeholder: 'amount',
    description: 'plain decimal greater than 0, such as 49.90',
    fallback: '100.00',
  },
  details: {
    wire: 'details',
    placeholder: 'text',
    max: 100,
    description: 'description of the purchase',
    fallback: 'Test payment',
  },
  ipnUrl: {
    wire: 'ipn_url',
    placeholder: 'url',
    kind: 'url',
    description: 'absolute http(s) address that receives the IPN',
    fallback: 'http://localhost:3000/ipn',
  },
  successUrl: {
    wire: 'success_url',
    placeholder: 'url',
    kind: 'url',
    description: 'redirect address on success, byte for byte as sent',
    otherwise: 'a thank-you page of the emulator',
    example: 'http://localhost:3000/paid',
  },
  cancelUrl: {
    wire: 'cancel_url',
    placeholder: 'url',
    kind: 'url',
    description: 'redirect address on cancellation, byte for byte as sent',
    otherwise: 'a page of the emulator',
    example: 'http://localhost:3000/canceled',
  },
  siteLogo: {
    wire: 'site_logo',
    placeholder: 'url',
    kind: 'url',
    description: "address of the merchant's logo",
    otherwise: 'a logo of the emulator',
    example: 'http://localhost:3000/logo.png',
  },
  checkoutTheme: {
    wire: 'checkout_theme',
    placeholder: 'theme',
    description: 'theme of the checkout',
    example: DEFAULT_THEME,
  },
  customerName: {
    wire: 'customer_name',
    placeholder: 'text',
    max: 30,
    description: "the customer's name",
    fallback: 'Ada Example',
  },
  customerEmail: {
    wire: 'customer_email',
    placeholder: 'e-mail',
    kind: 'email',
    max: 30,
    description: "the customer's e-mail",
    fallback: 'wallet@example.com',
  },
} as const satisfies Readonly<Record<string, ServiceField>>;

/** What a merchant sends to create a card. */
export const CARD_FIELDS = {
  currency: {
    wire: 'currency_code',
    placeholder: 'code',
    max: 3,
    description: 'currency code',
    fallback: 'USD',
  },
  title: {
    wire: 'title',
    placeholder: 'text',
    max: 255,
    description: 'title that distinguishes the card from others',
    fallback: 'Test card',
  },
  nameOnCard: {
    wire: 'name_on_card',
    placeholder: 'text',
    max: 255,
    description: 'name printed on the card',
    fallback: 'Ada Example',
  },
  email: {
    wire: 'email',
    placeholder: 'e-mail',
    kind: 'email',
    max: 255,
    description: "the cardholder's e-mail",
    fallback: 'ada@example.com',
  },
  amount: {
    wire: 'amount',
    placeholder: 'amount',
    description: 'total amount of the card as a decimal, such as 250.00',
    fallback: '100.00',
    example: '250',
  },
} as const satisfies Readonly<Record<string, ServiceField>>;

type ServiceFields = Readonly<Record<string, ServiceField>>;

/** The names of fields on the wire, by our names. */
export function wireNames<All extends ServiceFields>(fields: All) {
  const names = Object.entries(fields).map(([name, { wire }]) => [name, wire]);
  return Object.fromEntries(names) as { [Name in keyof All]: All[Name]['wire'] };
}

type WithFallback<All> = {
  [Name in keyof All]: All[Name] extends { fallback: string } ? Name : never;
}[keyof All];

/** What commands and the library send for omitted fields. */
export function fallbacks<All extends ServiceFields>(fields: All) {
  const values = Object.entries(fields).flatMap(([name, { fallback }]) =>
    fallback ? [[name, fallback]] : [],
  );
  return Object.fromEntries(values) as Record<WithFallback<All>, string>;
}

/** An example of a request, by the names on the wire. */
export function exampleOf(fields: ServiceFields): Record<string, string> {
  return Object.fromEntries(
    Object.values(fields).map(({ wire, example, fallback = '' }) => [wire, example ?? fallback]),
  );
}

/** A charge to a card, or money added to it. */
export const CARD_MOVEMENT_FIELDS = {
  amount: { placeholder: 'amount', description: 'amount as a decimal, such as 12.50' },
  details: { placeholder: 'text', max: 255, description: 'what the transaction is for' },
  currency: { placeholder: 'code', description: "currency code (must be the card's currency)" },
} as const satisfies RequestFields;

/** An IPN to send by hand. */
export const FIRE_FIELDS = {
  to: { placeholder: 'url', description: 'address to send it to', otherwise: "the payment's ipn_url" },
  payment: { placeholder: 'ref', description: 'payment id or identifier', otherwise: 'a made-up payment' },
  identifier: {
    placeholder: 'text',
    description: "the merchant's identifier",
    otherwise: "the payment's",
  },
  amount: {
    placeholder: 'amount',
    description: 'amount as a decimal, such as 49.90',
    otherwise: "the payment's",
  },
  currency: { placeholder: 'code', description: 'currency code', otherwise: "the payment's, or USD" },
  status: { placeholder: 'status', description: 'status', otherwise: 'success' },
  format: { placeholder: 'format', description: 'format of the body', otherwise: "the emulator's format" },
  set: {
    placeholder: 'field=value',
    description:
      'fields to add or replace before signing, such as data.charge: dots separate nested names, and name[] becomes a list',
  },
  unset: {
    placeholder: 'field',
    description: 'fields to omit before signing, such as data.charge; signature is omitted after it',
  },
  tamper: {
    placeholder: 'what',
    description:
      'what to tamper with after signing, such as amount or identifier=order-2 (your handler must reject it)',
  },
  times: { placeholder: 'number', description: 'number of times to send the same bytes' },
  delay: { placeholder: 'duration', description: 'delay before each delivery' },
} as const satisfies RequestFields;

/** How to settle a payment. */
export const SETTLE_FIELDS = {
  delivery: {
    placeholder: 'order',
    description: 'order of IPN and redirect',
    otherwise: "the emulator's order",
  },
  visit: {
    placeholder: 'boolean',
    description: "then open the redirect address once, as the customer's browser would",
  },
} as const satisfies RequestFields;

/** Money added to a wallet. */
export const WALLET_FUND_FIELDS = {
  amount: CARD_MOVEMENT_FIELDS.amount,
} as const satisfies RequestFields;

/** A move of the clock. */
export const CLOCK_FIELDS = {
  timeout: {
    placeholder: 'duration',
    description: 'real-time limit for the events that fall due',
    otherwise: '240s',
  },
} as const satisfies RequestFields;

/** Maximum number of results of a list, unless it is given (chosen). */
export const DEFAULT_LIMIT = 50;

/** Which part of a list to return. */
export const PAGING_FIELDS = {
  limit: { placeholder: 'number', description: 'maximum number of results', otherwise: `${DEFAULT_LIMIT}` },
  cursor: { placeholder: 'cursor', description: 'continue where a previous list ended (its nextCursor)' },
} as const satisfies RequestFields;

/** Filters of the list of payments. */
export const PAYMENT_FILTERS = {
  status: { placeholder: 'status', description: 'only payments with this status' },
  mode: { placeholder: 'mode', description: 'only payments in this mode' },
  identifier: { placeholder: 'identifier', description: 'only payments with this identifier' },
} as const satisfies RequestFields;

/** Filters of the list of IPNs. */
export const IPN_FILTERS = {
  payment: { placeholder: 'ref', description: 'only IPNs of this payment (id or identifier)' },
  state: { placeholder: 'state', description: 'only IPNs in this state' },
} as const satisfies RequestFields;

/** Filters of the list of cards. */
export const CARD_FILTERS = {
  status: { placeholder: 'status', description: 'only cards with this status' },
} as const satisfies RequestFields;

/** How to audit a shop. */
export const AUDIT_FIELDS = {
  orderUrl: {
    placeholder: 'url',
    description: 'address that places an order in the shop, by POST, or by GET if it does not accept POST',
    otherwise: 'made-up orders',
  },
  orders: {
    placeholder: 'number',
    description:
      'maximum number of orders; without a way to place them, you place as many by hand: 3, or 9 with --db',
    otherwise: '150',
  },
  probeUrl: {
    placeholder: 'url',
    description: 'address that returns the order, such as http://localhost:3000/orders/{identifier}',
  },
  paidWhen: {
    placeholder: 'condition',
    description: 'condition for a paid order: .path=value for JSON, or /regular expression/',
  },
  orderAmount: {
    placeholder: 'path',
    description: 'path of the order amount in the probe output, such as .total',
  },
  confirmUrl: {
    placeholder: 'url',
    description:
      'another URL that confirms a payment, in addition to success_url; accepts the same placeholders',
  },
  log: {
    placeholder: 'path',
    description:
      'path in the probe output, or table, that only records IPNs, such as .notifications or oc_* (any part of a name)',
  },
  only: {
    placeholder: 'names',
    description: 'run only these cases, groups or classes; with - before a name, all but these',
  },
} as const satisfies RequestFields;

/** Where to resend an IPN. */
export const RESEND_FIELDS = {
  to: {
    placeholder: 'url',
    description: 'another address, which creates a new delivery',
    otherwise: 'the address of the last attempt',
  },
} as const satisfies RequestFields;

/** How to diagnose an IPN. */
export const DIAGNOSE_FIELDS = {
  probeUrl: AUDIT_FIELDS.probeUrl,
  paidWhen: {
    placeholder: 'condition',
    description: `${AUDIT_FIELDS.paidWhen.description}; requires a probe, or start --db (orders.status=paid)`,
  },
} as const satisfies RequestFields;

/** The description for a list of options, which shows fallbacks itself. */
export function phraseOf({ description, otherwise }: RequestField): string {
  return otherwise === undefined ? description : `${description} (default: ${otherwise})`;
}

export function sentenceOf({ description }: Pick<RequestField, 'description'>): string {
  return `${description[0]?.toUpperCase()}${description.slice(1)}.`;
}

/** The description with what the field is if omitted, as sentences. */
export function sentencesOf(field: RequestField): string {
  const otherwise = field.fallback === undefined ? field.otherwise : `\`${field.fallback}\``;
  return otherwise === undefined ? sentenceOf(field) : `${sentenceOf(field)} Default: ${otherwise}.`;
}
