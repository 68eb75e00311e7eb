/*
 * What the service's messages look like. Every value here is held against its schema by the tests.
 */

const baseUrl = 'http://127.0.0.1:4477';

/** A message of initiate as a merchant sends it. */
export const INITIATE_EXAMPLE = {
  public_key: 'pub_sim_0123456789abcdefghijklmnopqrstuv',
  identifier: 'order-1',
  currency: 'USD',
  amount: '100.00',
  details: 'Order 1',
  ipn_url: 'http://localhost:3000/ipn',
  success_url: 'http://localhost:3000/paid',
  cancel_url: 'http://localhost:3000/canceled',
  site_logo: 'http://localhost:3000/logo.png',
  checkout_theme: 'light',
  customer_name: 'Ada Example',
  customer_email: 'ada@example.com',
};

const initiated = (path: string) => ({
  success: 'ok',
  message: 'Payment initiated. Redirect to url.',
  url: `${baseUrl}${path}?payment_id=pay_8k2mw4xq9d7t1r5z`,
});

const error = (...problems: string[]) => ({ error: 'true', message: problems[0], errors: problems });

const REFUSED = {
  'wrong key': error('Invalid api key'),
  'missing fields': error('identifier is required', 'ipn_url is required'),
};

const card = {
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

const transaction = {
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

const done = (message: string, changes: Partial<typeof card> = {}) => ({
  success: 'ok',
  message,
  data: { ...card, ...changes },
});

/** The examples of the document, by message and name. */
export const EXAMPLES = {
  initiate: { payment: INITIATE_EXAMPLE },
  initiated: {
    live: { initiated: initiated('/initiate/payment/checkout'), ...REFUSED },
    sandbox: { initiated: initiated('/sandbox/initiate/payment/checkout'), ...REFUSED },
  },
  ipn: {
    success: {
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
    },
  },
  cardRequest: {
    card: {
      currency_code: 'USD',
      title: 'Office supplies',
      name_on_card: 'Ada Example',
      email: 'ada@example.com',
      amount: '250',
    },
  },
  cardCreated: { created: done('Virtual card created.') },
  cardList: {
    cards: { success: 'ok', data: [card], current_page: 1, per_page: 15, last_page: 1, total: 1 },
  },
  cardDetails: {
    card: {
      ...done('Virtual card found.'),
      data: { ...card, available_balance: 235, transactions: [transaction] },
    },
  },
  toggleRequest: { block: { card_id: card.id, active: false }, activate: { card_id: card.id, active: true } },
  cardToggled: { blocked: done('Virtual card blocked.', { status: 'inactive' }) },
  cardCanceled: { canceled: done('Virtual card canceled.', { status: 'canceled' }) },
} as const;

/** What a request of the control API looks like, by the name of its schema. */
export const REQUEST_EXAMPLES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  SettleInput: { approve: { outcome: 'approve' } },
  ResendInput: { elsewhere: { to: 'http://localhost:3000/ipn' } },
  FireInput: {
    'wrong signature': { to: 'http://localhost:3000/ipn', amount: '100.00', tamper: 'signature' },
  },
  CardTransactionInput: { coffee: { type: 'charge', amount: '12.50', details: 'Coffee' } },
  MerchantInput: { shop: { name: 'Second shop' } },
  FundInput: { money: { amount: '100' } },
  FaultRule: { 'two failures': { route: 'initiate', status: 503, times: 2 } },
  FaultRules: { 'late IPNs': { faults: [{ route: 'ipn', delay: '30s' }] } },
  ClockInput: { 'two hours': { advance: '2h' } },
};
