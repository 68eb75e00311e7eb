import { TAMPERINGS } from '../../contract/vocabulary.ts';
import type { JsonSchema } from './json-schema.ts';

/** What is said of a field; the second part is what its schema cannot say. A mark such as (documented) is its source. */
export type Note = string | readonly [text: string, refinement: JsonSchema];

/** What is said of a schema and of its fields; `data.amount` is a field of a field. */
export interface Notes {
  about: string;
  fields?: Readonly<Record<string, Note>>;
}

const TIME: JsonSchema = { format: 'date-time' };
const LINK: JsonSchema = { format: 'uri' };
/** What merchants give may hold characters that a strict URI may not. */
const ADDRESS: JsonSchema = { pattern: '^[hH][tT][tT][pP][sS]?://[^/?#]' };
const DURATION: JsonSchema = { pattern: '^\\d{1,9}(ms|s|m|h)$' };
const AMOUNT_PATTERN = '^\\d{1,20}(\\.\\d{1,8})?$';
/** A number stands for its shortest decimal text. */
const AMOUNT: JsonSchema = {
  type: ['string', 'number'],
  pattern: AMOUNT_PATTERN,
  exclusiveMinimum: 0,
  minLength: 1,
};
const REQUIRED: JsonSchema = { minLength: 1 };
const MICROSECONDS: JsonSchema = { pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{6}Z$' };

const id = 'Its id.';
const identifier = "The merchant's own name for the payment. Not unique: every initiate makes a new payment.";
const currency = 'Currency code.';
const createdAt: Note = ['When it was made.', TIME];
const nextCursor = 'Hand it back as `cursor` to get the next page; null on the last one.';

const page = (what: string, order = 'newest first'): Notes => ({
  about: `A page of a list of ${what}.`,
  fields: { data: `The ${what}, ${order}.`, nextCursor },
});
const whole = (what: string, order = 'newest first'): Notes => ({
  about: `All ${what}.`,
  fields: { data: `The ${what}, ${order}.`, nextCursor: 'Always null: this list comes whole.' },
});

const payment: Notes['fields'] = {
  id: 'Its id: `payment_id` of its checkout URL.',
  trx: '`data[payment_trx]` of its IPN: 12 upper-case letters and digits.',
  mode: 'Chosen by the path of initiate (documented).',
  status: 'Every one but `pending` is final (chosen).',
  merchantId: 'The merchant whose public key initiated it.',
  identifier,
  currency,
  amount: [
    'Decimal text exactly as it was sent to initiate: the signature of the IPN depends on every character.',
    { pattern: AMOUNT_PATTERN },
  ],
  charge: 'What the merchant pays for it, as decimal text.',
  details: 'What it is for.',
  ipnUrl: 'Where its IPN goes.',
  successUrl: 'Where the browser goes on success, byte for byte as given.',
  cancelUrl: 'Where the browser goes on cancellation, byte for byte as given.',
  siteLogo: 'Address of the logo; null when --loose let it be missing.',
  checkoutTheme: 'How its checkout looks.',
  customerName: "The customer's name.",
  customerEmail: "The customer's e-mail, as the merchant gave it.",
  createdAt: ['When it was initiated.', TIME],
  expiresAt: ['When it expires unless it is settled before; null: never.', TIME],
  auto: 'How and when it settles itself; null when it waits for somebody.',
  'auto.outcome': 'What becomes of it then.',
  'auto.at': ['When.', TIME],
  'auto.delivery': 'Order of IPN and redirect; null for the one that the emulator was started with.',
  settledAt: ['When it was settled; null while it is pending.', TIME],
  settledBy: 'Who settled it; null while it is pending.',
  payerEmail: 'The e-mail that the customer entered on the checkout.',
  walletId: 'The wallet that paid (live mode only).',
  warnings: "What is allowed but probably a mistake in the merchant's code.",
};

const attempt: Notes['fields'] = {
  id,
  number: 'Counts from 1.',
  startedAt: ['When it began.', TIME],
  durationMs: 'Real time from connecting to the end of the answer, in milliseconds.',
  url: 'Where it went.',
  requestHeaders: 'Names and values as they were sent.',
  requestBody: 'The bytes as they were sent.',
  responseStatus: 'Status of the answer; null when there was none.',
  responseHeaders: 'Names and values of the answer.',
  responseBody: 'The first 64 KiB of the answer; null when there was none.',
  error: 'What went wrong, in words; null when the receiver answered 2xx in time.',
};

const delivery: Notes['fields'] = {
  id: 'Its id: the header X-Gateway-Sim-Delivery of every attempt.',
  paymentId: 'Null for one that was fired by hand without a payment.',
  merchantId: 'The merchant whose secret key signed it.',
  identifier,
  url: 'Where it goes.',
  status: 'The `status` that it carries.',
  state: '`refused`: the egress guard did not let it out, and `note` names the option that would (chosen).',
  contentType: 'Media type of the body.',
  body: 'The bytes that every attempt sends.',
  signedText:
    'The text under the signature: `data.amount` and `identifier`, without anything between (documented).',
  once: 'Made by hand: attempted once, not by the schedule.',
  createdAt,
  nextAttemptAt: ['When it is tried next; null when it is not.', TIME],
  note: 'Why it was refused or failed, or a warning about its signature.',
};

const card: Notes['fields'] = {
  id,
  merchantId: 'The merchant that it belongs to.',
  title: 'What tells it from other cards.',
  nameOnCard: 'Name printed on it.',
  email: "Holder's e-mail.",
  number: 'Luhn-valid, in a range that belongs to no issuer.',
  cvc: 'Card verification code.',
  expiryMonth: 'Month number.',
  expiryYear: 'Four-digit year.',
  currency,
  amount: 'What it was created with, as decimal text; funding leaves it alone.',
  charges: 'Taken from the amount when it was created.',
  availableBalance: 'What can be spent.',
  status: '`canceled` is documented and final; the names of the others are chosen.',
  createdAt,
  updatedAt: ['When it changed last.', TIME],
};

const merchant: Notes['fields'] = {
  id,
  name: 'Its name, by which commands know it.',
  publicKey: '`public_key` of initiate.',
  secretKey: 'Signs IPNs, and is the bearer token of the card endpoints.',
  balances: 'What succeeded live payments brought in, less the charges, by currency code.',
  createdAt,
};

const message: Notes['fields'] = {
  paymentId: 'The payment that it confirms.',
  identifier,
  email: 'Where it would have gone.',
  code: 'The verification code.',
  sentAt: ['When it was "sent".', TIME],
  expiresAt: ['The code is valid until then.', TIME],
};

const error: Notes['fields'] = {
  error: 'Always the text "true" (documented).',
  message: 'The first problem, naming the field by its name on the wire (documented).',
  errors: 'Every problem (observed).',
};

const fault: Notes['fields'] = {
  route: '`initiate`, `checkout`, `cards`, `ipn`, or a path in which * stands for anything.',
  probability: ['Acts on so large a part; default: on all.', { exclusiveMinimum: 0, maximum: 1 }],
  times: [
    'Acts so often and is spent then; default: until cleared.',
    { type: 'integer', minimum: 1, maximum: 1_000_000 },
  ],
  identifier: [
    'Acts only for these identifiers (or card ids), such as `order-*`.',
    { minLength: 1, maxLength: 200 },
  ],
  status: [
    'Answers with this status; for an IPN: as if the receiver had.',
    { type: 'integer', minimum: 200, maximum: 599 },
  ],
  retryAfter: ['Retry-After of that answer; the status is 429 unless another is given.', DURATION],
  latency: 'Waits first, in real time: `2s`, or a range such as `100ms..2s`.',
  drop: 'Closes the connection without an answer; an IPN is lost.',
  truncate: 'Only half of the body.',
  malformed: 'A JSON body loses its first colon, a form its first equals sign.',
  duplicate: 'IPN only: goes out twice.',
  delay: ["IPN only: goes out so much later, on the emulator's clock.", DURATION],
  reorder: 'IPN only: the next one overtakes it.',
  corruptSignature: 'IPN only: the signature is wrong.',
};

const recordCounts: Notes['fields'] = {
  payments: 'Payments.',
  deliveries: 'IPNs.',
  merchants: 'Merchants.',
  wallets: 'Wallets of live mode.',
  cards: 'Virtual cards.',
};

const collections: Notes['fields'] = {
  version: 'Version of the format.',
  merchants: 'Merchants with their keys.',
  wallets: 'Wallets of live mode.',
  payments: 'Payments.',
  messages: 'Verification codes.',
  deliveries: 'IPNs.',
  attempts: 'Attempts of IPNs.',
  cards: 'Virtual cards.',
  cardTransactions: 'Movements of money on cards.',
};

const success = 'Always `ok` (documented for initiate, chosen for cards).';
const virtualCard: Notes['fields'] = {
  id: ['Card identifier (documented).', { maxLength: 40 }],
  amount: 'Card total amount (documented).',
  charges: 'Charges applied to the card (documented).',
  available_balance: 'Balance available on the card (documented).',
  title: 'Title identifying the card (documented).',
  masked_card_number: 'Card number with all but the last four digits as asterisks (documented).',
  card_number: [
    'Full card number (documented), in a range that belongs to no issuer (chosen).',
    { pattern: '^\\d{16}$' },
  ],
  name_on_card: 'Name printed on the card (documented).',
  email: "Holder's e-mail (documented).",
  cvc: 'Card verification code (documented).',
  expiry_month: 'Month number (documented).',
  expiry_year: ['Four-digit year (documented).', { pattern: '^\\d{4}$' }],
  status: 'The value `canceled` is documented; the names of the others are (chosen).',
  created_at: ['ISO 8601 UTC with microseconds (documented).', MICROSECONDS],
  updated_at: ['ISO 8601 UTC with microseconds (documented).', MICROSECONDS],
  currency: 'Currency code (documented).',
};

/** What stands in the document of each named schema. */
export const NOTES: Readonly<Record<string, Notes>> = {
  // The service.
  InitiateAnswer: {
    about: 'A payment was initiated (documented).',
    fields: {
      success: 'Always `ok` (documented).',
      message: 'For people (documented).',
      url: ['Checkout address with the query `payment_id`: send the customer there (documented).', LINK],
    },
  },
  InitiateRequest: {
    about: 'What a merchant posts to initiate (documented). Unknown fields are ignored (observed).',
    fields: {
      public_key: ['Merchant public API key (documented).', REQUIRED],
      identifier: [
        "The merchant's own identifier of the payment (documented). It may be used again (observed).",
        REQUIRED,
      ],
      currency: ['Currency code in upper case, such as USD or EUR (documented).', REQUIRED],
      amount: [
        'Plain decimal greater than 0 (documented). The IPN signs it exactly as sent (observed); a JSON number is taken when it can be read exactly (chosen).',
        AMOUNT,
      ],
      details: ['What the payment is for (documented).', REQUIRED],
      ipn_url: ['Absolute http(s) address that receives the IPN (documented).', { ...REQUIRED, ...ADDRESS }],
      success_url: [
        'Where the browser goes on success (documented), byte for byte as given (observed).',
        { ...REQUIRED, ...ADDRESS },
      ],
      cancel_url: ['Where the browser goes on cancellation (documented).', { ...REQUIRED, ...ADDRESS }],
      site_logo: [
        'Merchant logo address (documented). `--loose` lets it be missing (observed).',
        { ...REQUIRED, ...ADDRESS },
      ],
      checkout_theme: ['How the checkout looks (documented).', { default: 'light' }],
      customer_name: ["The customer's name (documented).", REQUIRED],
      customer_email: ["The customer's e-mail (documented).", { ...REQUIRED, format: 'email' }],
    },
  },
  Error: { about: 'An error of the service (documented).', fields: error },
  Ipn: {
    about:
      'What a merchant receives (documented); the names inside data beyond amount, charges, currency and the transaction id are (observed). As a form, nested names are written data[amount] (observed).',
    fields: {
      status: '`success` (documented); `canceled`, `failed`, `expired` with --ipn-on (chosen).',
      signature: [
        'Upper-case hex HMAC-SHA256 over data.amount followed by identifier, keyed with the secret key (documented).',
        { pattern: '^[0-9A-F]{64}$' },
      ],
      identifier: "The merchant's identifier given at initiation (documented).",
      data: 'What was paid (documented).',
      'data.payment_trx': 'Transaction id: 12 upper-case letters and digits (observed).',
      'data.amount': 'Text, exactly as sent to initiate unless --amount-format says otherwise (observed).',
      'data.account_holder': 'Holder of the wallet in live mode, else customer_name (observed).',
      'data.payment_type': 'Always `hosted` (observed).',
      'data.payment_timestamp': [
        'YYYY-MM-DD HH:MM:SS in UTC, of initiation (observed).',
        { pattern: '^\\d{4}-\\d{2}-\\d{2} \\d{2}:\\d{2}:\\d{2}$' },
      ],
      'data.charge': 'What the merchant pays for it (observed; the service interface says charges).',
      'data.currency': 'The currency (documented).',
      'data.currency.code': 'Its code (observed).',
      'data.currency.symbol': 'Its symbol (observed).',
    },
  },
  VirtualCard: { about: 'A virtual card (documented). Money is a JSON number.', fields: virtualCard },
  VirtualCardTransaction: {
    about: 'A movement of money on a virtual card (documented).',
    fields: {
      id: 'Transaction identifier (documented).',
      currency_code: 'Currency code (documented).',
      before_charge: 'Amount before the charge (documented).',
      amount: 'Amount (documented).',
      charge: 'Charge applied (documented).',
      type: '`-` pays from the card (documented), `+` adds to it (chosen).',
      details: 'Free text (documented).',
      remark: '`make_payment` (documented), `add_fund` (chosen).',
      created_at: ['ISO 8601 UTC (documented).', MICROSECONDS],
      updated_at: ['ISO 8601 UTC (documented).', MICROSECONDS],
    },
  },
  VirtualCardWithTransactions: {
    about: 'A virtual card with its transactions (chosen: the layout is not shown).',
    fields: { ...virtualCard, transactions: 'Its transactions, newest first (chosen).' },
  },
  VirtualCardAnswer: {
    about: 'A card was created or changed (chosen: the body is not shown).',
    fields: { success, message: 'For people (chosen).', data: 'The card as it stands now.' },
  },
  VirtualCardDetails: {
    about: 'A card with its transactions (chosen: the body is not shown).',
    fields: { success, message: 'For people (chosen).', data: 'The card.' },
  },
  VirtualCardList: {
    about: 'A page of cards (chosen: the envelope is not shown).',
    fields: {
      success,
      data: 'The cards, newest first; empty past the end.',
      current_page: 'The page that was asked for (chosen).',
      per_page: 'Cards on a page (chosen).',
      last_page: 'Number of the last page (chosen).',
      total: 'Number of all cards (chosen).',
    },
  },
  CardRequest: {
    about: 'The card to create (documented).',
    fields: {
      currency_code: ['Card currency; one of the active currencies (documented).', REQUIRED],
      title: ['Title that identifies the card (documented).', REQUIRED],
      name_on_card: ['Name printed on the card (documented).', REQUIRED],
      email: ["The holder's e-mail (documented).", { ...REQUIRED, format: 'email' }],
      amount: [
        'Card total amount, a number or numeric text (documented); at most 10 digits and 4 decimals (chosen).',
        { ...AMOUNT, pattern: '^\\d{1,10}(\\.\\d{1,4})?$' },
      ],
    },
  },
  ToggleRequest: {
    about: 'The card to activate or block (documented).',
    fields: {
      card_id: ['Card identifier (documented).', REQUIRED],
      active: 'true activates an inactive card, false blocks it (documented).',
    },
  },
  EmailForm: { about: 'First step of the checkout.', fields: { email: 'What the customer entered.' } },
  CodeForm: { about: 'Second step of the checkout.', fields: { code: 'What the customer entered.' } },
  PanelForm: {
    about: 'What the simulator panel posts.',
    fields: { outcome: 'What becomes of the payment.', delivery: 'Order of IPN and redirect.' },
  },

  // The control API.
  ControlError: {
    about: 'An error of the control API: the shape of the service, and what programs and people can act on.',
    fields: {
      ...error,
      code: 'What kind of error it is.',
      remedy: 'What to do about it.',
      hint: 'The same as data: texts, commands and options of `start`.',
    },
  },
  Payment: { about: 'A payment.', fields: { ...payment, checkoutUrl: ['Its checkout.', LINK] } },
  PaymentList: page('payments'),
  PaymentWithTimeline: {
    about: 'A payment with its whole story.',
    fields: {
      ...payment,
      checkoutUrl: ['Its checkout.', LINK],
      timeline: 'Everything that happened to it, in order.',
    },
  },
  TimelineEntry: {
    about: 'One step in the story of a payment.',
    fields: {
      at: ['When.', TIME],
      event: '`ipn_due` is still to come: the next attempt of a delivery.',
      detail: 'More about it, in words.',
      warnings: "On `initiated` only: what is probably a mistake in the merchant's code.",
      deliveryId: 'The delivery that it belongs to.',
      attempt: 'Both sides of the attempt, on `ipn_attempted` only.',
    },
  },
  Settled: {
    about: 'What settling a payment led to.',
    fields: {
      payment: 'The payment as it stands now.',
      delivery: 'The last delivery that was made, as it stands; null when none was.',
      redirectUrl: 'Where the browser goes, byte for byte as given to initiate; null where it stays.',
    },
  },
  SettleInput: {
    about: 'How to settle a payment.',
    fields: {
      outcome: 'What becomes of it.',
      delivery: 'Order of IPN and redirect; default: the one that the emulator was started with.',
      awaitDelivery:
        'Answer after the first attempt, whatever the order and however long its receiver takes.',
    },
  },
  Attempt: {
    about: 'One try to bring an IPN to its receiver, both sides as they were on the wire.',
    fields: attempt,
  },
  Delivery: {
    about: 'An IPN on its way to a receiver.',
    fields: { ...delivery, attempts: 'Every attempt, in order.' },
  },
  DeliveryList: page('deliveries'),
  DeliveryBatch: whole('deliveries that were made', 'in the order in which they go out'),
  ResendInput: {
    about: 'Where to send a delivery once more.',
    fields: {
      to: ['Another address, which makes a new delivery; default: where it was sent before.', ADDRESS],
    },
  },
  FireInput: {
    about: 'An IPN made by hand. Without `payment` it tells of one that never was.',
    fields: {
      payment: 'Id or identifier of the payment that it tells of.',
      to: ["Where it goes; default: the payment's ipn_url.", ADDRESS],
      identifier: "Instead of the payment's.",
      amount: "Instead of the payment's.",
      currency: "Instead of the payment's; default: USD.",
      status: 'Default: success.',
      format: 'How it is written; default: as the emulator writes them.',
      set: 'More fields, or others, by name; dots lead inside, such as `data.payment_trx`.',
      tamper: ['What is made wrong about it.', { enum: TAMPERINGS }],
      times: 'How many deliveries of the same bytes.',
      delay: ['Time before each of them.', DURATION],
    },
  },
  Card: {
    about: 'A virtual card, as the simulator sees it. Money is decimal text.',
    fields: { ...card, maskedNumber: 'All but the last four digits as asterisks.' },
  },
  CardList: page('cards'),
  CardWithTransactions: {
    about: 'A virtual card with its transactions.',
    fields: {
      ...card,
      maskedNumber: 'All but the last four digits as asterisks.',
      transactions: 'Its transactions, newest first.',
    },
  },
  CardTransaction: {
    about: 'A movement of money on a card.',
    fields: {
      id,
      cardId: 'The card.',
      currency,
      beforeCharge: 'The amount asked for, as decimal text.',
      amount: 'The amount asked for, as decimal text.',
      charge: 'Taken from the card on top of it.',
      type: '`-` pays from the card (documented), `+` adds to it (chosen).',
      details: 'Free text.',
      remark: '`make_payment` (documented), `add_fund` (chosen).',
      createdAt,
      updatedAt: ['When it changed last.', TIME],
    },
  },
  CardMovement: {
    about: 'What a charge or a fund led to.',
    fields: { card: 'The card as it stands now.', transaction: 'The movement.' },
  },
  CardTransactionInput: {
    about: 'A charge to a card, or money added to it.',
    fields: {
      type: '`charge` pays from the card, `fund` adds to it.',
      amount: ['Decimal text.', { pattern: '^\\d{1,10}(\\.\\d{1,4})?$' }],
      details: 'What it is for.',
      currency: "Must be the card's, if it is given.",
    },
  },
  Merchant: { about: 'A merchant with its pair of keys.', fields: merchant },
  ListedMerchant: {
    about: 'A merchant in the list.',
    fields: { ...merchant, isDefault: 'Whether it is the one that commands mean when they name none.' },
  },
  MerchantList: whole('merchants', 'the default one first'),
  MerchantInput: {
    about: 'A new merchant.',
    fields: { name: ['1 to 60 characters, not taken.', { minLength: 1, maxLength: 60 }] },
  },
  Wallet: {
    about: 'A wallet of live mode: one for each e-mail and currency.',
    fields: {
      id,
      email: 'What its owner enters on the checkout.',
      holder: '`data[account_holder]` of the IPN.',
      currency,
      balance: 'Decimal text.',
    },
  },
  WalletList: whole('wallets', 'in the order in which they were made'),
  FundInput: {
    about: 'Money for a wallet.',
    fields: { amount: ['Decimal text.', { pattern: AMOUNT_PATTERN }] },
  },
  Clock: {
    about: "The emulator's clock.",
    fields: {
      now: ["The emulator's time.", TIME],
      frozen: 'Whether it stands still.',
      aheadMs: 'How far it is ahead of real time, in milliseconds.',
      nextDue: ['When the next thing is due: a retry, an expiry; null when nothing waits.', TIME],
    },
  },
  ClockInput: {
    about: 'One move of the clock: exactly one of the three.',
    fields: {
      advance: ['Runs everything that falls due on the way, in order.', DURATION],
      freeze: '`now`, or a time with its zone such as 2027-01-01T00:00:00Z; never backwards.',
      resume: 'Lets a frozen clock go on.',
    },
  },
  Fault: {
    about: 'A fault rule and how often it has acted.',
    fields: {
      ...fault,
      used: 'How often it has acted.',
      spent: 'Whether it has acted as often as it was to.',
      summary: 'The rule in words.',
    },
  },
  FaultRule: { about: 'What goes wrong on purpose, and where.', fields: fault },
  FaultRules: {
    about: 'All rules at once.',
    fields: { faults: 'The rules, in the order in which they are tried.' },
  },
  FaultList: whole('fault rules', 'in the order in which they are tried'),
  ClearedFaults: {
    about: 'What was cleared, and which rules are left.',
    fields: {
      cleared: 'How many rules were taken away.',
      data: 'The rules that are left.',
      nextCursor: 'Always null: this list comes whole.',
    },
  },
  Message: {
    about: 'A verification code that was "sent" to the customer of a live payment.',
    fields: message,
  },
  MessageList: whole('verification codes (the newest 100)'),
  RecordedRequest: {
    about: 'A request to the service and its answer. Secrets, tokens and card numbers are masked.',
    fields: {
      id: 'Counts from 1.',
      at: ['When it came.', TIME],
      method: 'Method.',
      target: 'Path and query as they were sent.',
      requestHeaders: 'Headers by lower-case name.',
      requestBody: 'The beginning of the body; null when there was none.',
      status: 'Status of the answer; 444 when none went out.',
      responseBody: 'Body of the answer, pages excepted.',
      durationMs: 'Time to the answer, in milliseconds.',
      paymentId: 'The payment that it was about.',
      notes: 'Why it was refused, and what else the developer should know.',
    },
  },
  RequestList: whole('requests that are remembered (100 unless `limit` says otherwise)'),
  SimEvent: {
    about: 'Something that happened: the data of one event of the stream.',
    fields: {
      seq: 'Counts everything that happens; hand it back as `since` or Last-Event-ID.',
      type: 'What kind of thing it is.',
      request: 'A request to the service and its answer.',
      payment: 'A payment that was made or changed.',
      delivery: 'An IPN that was made or attempted.',
      message: 'A verification code.',
      cardTransaction: 'A movement of money on a card.',
      at: ['When.', TIME],
      text: 'Something about the emulator itself, in words.',
    },
  },
  RecordCounts: { about: 'How many records there are.', fields: recordCounts },
  Counted: { about: 'How many records there are now.', fields: { counts: 'By kind.' } },
  Status: {
    about: 'How a running emulator stands.',
    fields: {
      version: 'Version of gateway-sim.',
      mode: 'Where the state is kept.',
      url: ['Address that checkout URLs are built on.', LINK],
      dataDir: 'Folder of the state; null in memory.',
      pid: 'Process id.',
      startedAt: ['When it was started, in real time.', TIME],
      clock: "The emulator's clock.",
      faults: 'Fault rules, in the order in which they are tried.',
      counts: 'How many records there are.',
      ...Object.fromEntries(Object.entries(recordCounts).map(([name, text]) => [`counts.${name}`, text])),
      'counts.payments': 'Payments by status.',
      options: 'Options in force.',
    },
  },
  Options: {
    about: 'Options of `start` in force, secrets masked; what is not set and has no default is left out.',
  },
  Live: { about: 'The process answers.', fields: { status: 'Always `live`.' } },
  Ready: { about: 'State is loaded and requests are taken.', fields: { status: 'Always `ready`.' } },
  Stopping: {
    about: 'It is about to stop.',
    fields: { stopping: 'Always true.', pid: 'The process that ends.' },
  },
  State: { about: 'The whole state, as db.json holds it.', fields: collections },
  GivenState: {
    about: 'A whole state. What is left out is empty; an older version is migrated.',
    fields: collections,
  },
  StoredPayment: {
    about: 'A payment as it is stored.',
    fields: {
      ...payment,
      messageId: 'The newest verification code (live mode only).',
      history: 'What happened to it after its initiation.',
      'history.at': ['When.', TIME],
      'history.event': 'What.',
      'history.detail': 'More about it, in words.',
    },
  },
  StoredDelivery: {
    about: 'An IPN as it is stored; its attempts are records of their own.',
    fields: {
      ...delivery,
      signedWith: 'The public key of the pair that signed; empty for one that was tampered with.',
      attemptCount: 'How many attempts there were.',
    },
  },
  StoredAttempt: {
    about: 'An attempt as it is stored.',
    fields: { ...attempt, deliveryId: 'Its delivery.' },
  },
  StoredMessage: { about: 'A verification code as it is stored.', fields: { id, ...message } },
  StoredCard: { about: 'A card as it is stored.', fields: card },
  TokenForm: { about: 'What the dashboard asks for once.', fields: { token: 'The control token.' } },
};
