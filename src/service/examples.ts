import { DEFAULT_URL } from '../contract/address.ts';
import type { CardTransaction } from '../contract/card.ts';
import type { Mode } from '../contract/vocabulary.ts';
import type { Card } from '../domain/state.ts';
import { CARD_REQUEST_EXAMPLE, cardAnswer, cardDetails, cardList, TOGGLE_EXAMPLE } from './cards.ts';
import { serviceError } from './errors.ts';
import { INITIATE_EXAMPLE, initiateAnswer } from './initiate.ts';
import { IPN_EXAMPLE } from './ipn.ts';
import { CARD_NAMES, fromWire } from './names.ts';

/*
 * Examples of the service's messages. Tests check each value against its schema.
 */

const error = (message: string, ...more: string[]) => serviceError({ message, problems: [message, ...more] });

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
export const EXAMPLES = {
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
