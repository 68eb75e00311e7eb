import { CARD_REQUEST_EXAMPLE } from './card-requests.ts';
import { INITIATE_EXAMPLE } from './initiate.ts';
import { IPN_EXAMPLE } from './ipn.ts';
import { CHECKOUT_PATHS } from './paths.ts';

/*
 * What the service's messages look like. Every value here is held against its schema by the tests.
 */

const error = (...problems: string[]) => ({ error: 'true', message: problems[0], errors: problems });

const initiated = (path: string) => ({
  initiated: {
    success: 'ok',
    message: 'Payment initiated. Redirect to url.',
    url: `http://127.0.0.1:4477${path}?payment_id=pay_8k2mw4xq9d7t1r5z`,
  },
  'wrong key': error('Invalid api key'),
  'missing fields': error('identifier is required', 'ipn_url is required'),
});

const CARD_EXAMPLE = {
  id: 'card_5t1r9d7m2k8w4xqz',
  amount: 250,
  charges: 2.5,
  available_balance: 247.5,
  title: 'Office supplies',
  masked_card_number: '************4444',
  card_number: '9999001234564444',
  name_on_card: 'Ada Example',
  email: 'ada@example.com',
  cvc: '123',
  expiry_month: 5,
  expiry_year: '2029',
  status: 'active',
  created_at: '2026-05-01T09:30:00.123000Z',
  updated_at: '2026-05-01T09:30:00.123000Z',
  currency: 'USD',
};

const TRANSACTION_EXAMPLE = {
  id: 'ctx_2k8w4xq9d7t1r5mz',
  currency_code: 'USD',
  before_charge: 12.5,
  amount: 12.5,
  charge: 0,
  type: '-',
  details: 'Coffee',
  remark: 'make_payment',
  created_at: '2026-05-02T10:00:00.000000Z',
  updated_at: '2026-05-02T10:00:00.000000Z',
};

const doneExample = (message: string, changes: object = {}) => ({
  success: 'ok',
  message,
  data: { ...CARD_EXAMPLE, ...changes },
});

/** The examples of the document, by message and name. */
export const EXAMPLES = {
  initiate: { payment: INITIATE_EXAMPLE },
  initiated: { live: initiated(CHECKOUT_PATHS.live), sandbox: initiated(CHECKOUT_PATHS.sandbox) },
  ipn: { success: IPN_EXAMPLE },
  cardRequest: { card: CARD_REQUEST_EXAMPLE },
  cardCreated: { created: doneExample('Virtual card created.') },
  cardList: {
    cards: { success: 'ok', data: [CARD_EXAMPLE], current_page: 1, per_page: 15, last_page: 1, total: 1 },
  },
  cardDetails: {
    card: doneExample('Virtual card found.', { available_balance: 235, transactions: [TRANSACTION_EXAMPLE] }),
  },
  toggleRequest: {
    block: { card_id: CARD_EXAMPLE.id, active: false },
    activate: { card_id: CARD_EXAMPLE.id, active: true },
  },
  cardToggled: { blocked: doneExample('Virtual card blocked.', { status: 'inactive' }) },
  cardCanceled: { canceled: doneExample('Virtual card canceled.', { status: 'canceled' }) },
} as const;
