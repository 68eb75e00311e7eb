import * as z from 'zod/mini';
import { DEFAULT_URL } from '../../contract/address.ts';
import type { CardTransaction } from '../../contract/card.ts';
import { field, query, text } from '../../contract/field.ts';
import { SETTLE_FIELDS, sentenceOf } from '../../contract/request-fields.ts';
import { DELIVERY_ORDERS, type Mode, OUTCOMES } from '../../contract/vocabulary.ts';
import type { Card } from '../../domain/state.ts';
import type { Dialect } from '../dialect.ts';
import { postedMessage } from '../fields.ts';
import {
  CARD_REQUEST_EXAMPLE,
  CardRequest,
  cardAnswer,
  cardDetails,
  cardList,
  maskCards,
  readCard,
  readCardId,
  readPage,
  readToggle,
  TOGGLE_EXAMPLE,
  ToggleRequest,
  VirtualCardAnswer,
  VirtualCardDetails,
  VirtualCardList,
} from './cards.ts';
import {
  INITIATE_EXAMPLE,
  InitiateAnswer,
  InitiateRequest,
  initiateAnswer,
  initiateWarnings,
  readInitiate,
} from './initiate.ts';
import { compose, corruptSignature, IPN_EXAMPLE, Ipn, resigned } from './ipn.ts';
import { merchantDialect } from './merchant.ts';
import {
  CARD_NAMES,
  CARD_PATHS,
  CHECKOUT_PATHS,
  cardIdIn,
  checkoutUrl,
  fromWire,
  INITIATE_NAMES,
  INITIATE_PATHS,
  missingPath,
  PAYMENT_PARAMETER,
} from './names.ts';
import {
  fingerprint,
  isSignatureMistake,
  readIpn,
  signatureCheck,
  signatureCode,
  verify,
} from './signature.ts';

const serviceError: Dialect['serviceError'] = ({ message, problems }) => ({
  error: 'true',
  message,
  errors: [...problems],
});

/** The message of server copies for an unknown currency (observed: refusal-currency-bare*). */
const CURRENCY_MESSAGE = 'Currency not supported';

const rejection: Dialect['rejection'] = (error, { fieldRefusal, otherRefusal }) => {
  const { code, message, problems } = error;
  const isField = code === 'invalid_fields';
  // A default that every client understands (chosen: refusal-field-message*).
  if ((isField ? fieldRefusal : otherRefusal) === 'message-and-errors') return serviceError(error);
  // As server copies do (observed: refusal-field-errors*).
  if (isField) return { error: 'yes', errors: [...problems] };
  return { error: 'true', message: code === 'unsupported_currency' ? CURRENCY_MESSAGE : message };
};

/** The response of server copies to a second visit to a settled payment (observed: checkout-again-error*). */
const settledError = { error: 'true', message: 'Invalid transaction request' } as const;

/*
 * Examples of the service's messages. Tests check each value against its schema.
 */

const error = (...problems: string[]) => ({ error: 'true', message: problems[0], errors: problems });

const initiated = (mode: Mode) => ({
  initiated: initiateAnswer({ id: 'pay_8k2mw4xq9d7t1r5z', mode }, DEFAULT_URL),
  'wrong key': error('Invalid api key'),
  'missing fields': error('identifier is required', 'ipn_url is required'),
});

const CARD: Card = {
  id: TOGGLE_EXAMPLE.card_id,
  merchantId: 'mer_k8w4xq9d7t1r',
  ...fromWire(CARD_NAMES, CARD_REQUEST_EXAMPLE),
  charges: '2.5',
  availableBalance: '247.5',
  number: '9999001234564444',
  cvc: '123',
  expiryMonth: 5,
  expiryYear: '2029',
  status: 'active',
  createdAt: '2026-05-01T09:30:00.123Z',
  updatedAt: '2026-05-01T09:30:00.123Z',
};

const TRANSACTION: CardTransaction = {
  id: 'ctx_2k8w4xq9d7t1r5mz',
  cardId: CARD.id,
  currency: 'USD',
  beforeCharge: '12.5',
  amount: '12.5',
  charge: '0',
  type: '-',
  details: 'Coffee',
  remark: 'make_payment',
  createdAt: '2026-05-02T10:00:00.000Z',
  updatedAt: '2026-05-02T10:00:00.000Z',
};

/** Examples for OpenAPI, by message and name. */
const EXAMPLES = {
  initiate: { payment: INITIATE_EXAMPLE },
  initiated: { live: initiated('live'), sandbox: initiated('sandbox') },
  ipn: { success: IPN_EXAMPLE },
  cardRequest: { card: CARD_REQUEST_EXAMPLE },
  cardCreated: { created: cardAnswer('created', CARD) },
  cardList: { cards: cardList({ cards: [CARD], page: 1, perPage: 15, lastPage: 1, total: 1 }) },
  cardDetails: { card: cardDetails({ ...CARD, availableBalance: '235' }, [TRANSACTION]) },
  toggleRequest: {
    block: TOGGLE_EXAMPLE,
    activate: { ...TOGGLE_EXAMPLE, active: true },
  },
  cardToggled: { blocked: cardAnswer('blocked', { ...CARD, status: 'inactive' }) },
  cardCanceled: { canceled: cardAnswer('canceled', { ...CARD, status: 'canceled' }) },
} as const;

const entered = field(text, 'What the customer entered.');

export const dialect: Dialect = {
  paths: { initiate: INITIATE_PATHS, checkout: CHECKOUT_PATHS, cards: CARD_PATHS },
  paymentParameter: PAYMENT_PARAMETER,
  checkoutUrl,
  cardIdIn,
  identifierIn: (fields) => {
    const named = fields['identifier'] ?? fields['card_id'];
    return typeof named === 'string' ? named : undefined;
  },
  missingPath,
  fieldNames: INITIATE_NAMES,
  initiateWarnings,
  readInitiate,
  initiateAnswer,
  readCard,
  readToggle,
  readCardId,
  readPage,
  cardAnswer,
  cardDetails,
  cardList,
  serviceError,
  // Clients check only the body (observed: refusal-*-status*).
  rejections: new Set(['forbidden', 'invalid_fields', 'unsupported_currency', 'invalid_api_key']),
  rejection,
  settledError,
  maskCards,
  ipn: { compose, resigned, fingerprint, corruptSignature },
  verify,
  readIpn,
  isSignatureMistake,
  diagnosis: async () => (await import('./variants.ts')).diagnosis,
  signatureCode,
  signatureCheck,
  messages: {
    InitiateRequest,
    InitiateAnswer,
    CardRequest,
    ToggleRequest,
    CheckoutQuery: query('CheckoutQuery', 'Selects the payment.', {
      [PAYMENT_PARAMETER]: field(text, 'The payment id in the checkout URL.'),
    }),
    EmailForm: postedMessage('EmailForm', 'First step of the checkout.', { email: entered }),
    CodeForm: postedMessage('CodeForm', 'Second step of the checkout.', { code: entered }),
    PanelForm: postedMessage('PanelForm', 'The form of the simulator panel.', {
      outcome: field(z.enum(OUTCOMES), 'The outcome of the payment.'),
      delivery: field(z.optional(z.enum(DELIVERY_ORDERS)), sentenceOf(SETTLE_FIELDS.delivery)),
    }),
    VirtualCardAnswer,
    VirtualCardDetails,
    VirtualCardList,
    Ipn,
    examples: EXAMPLES,
  },
  merchant: merchantDialect,
};
