import { PAYMENT_DEFAULTS } from '../../contract/defaults.ts';
import { OUTCOMES, PAYMENT_OUTCOMES, type PaymentOutcome } from '../../contract/outcomes.ts';
import { CHECKOUT_THEMES, DELIVERY_ORDERS, MODES, PAYMENT_STATUSES } from '../../contract/vocabulary.ts';
import {
  type ActionsOf,
  choice,
  type Declarations,
  duration,
  flag,
  group,
  type OptionDeclaration,
  pagedBy,
  text,
  textOr,
} from '../command.ts';

type OutcomeFlags = Record<PaymentOutcome, OptionDeclaration<true | undefined>>;

const COMMANDS = {
  pay: {
    args: ['[ref]'],
    summary: 'settle a pending payment: the newest one, or by id or identifier',
    options: {
      ...(Object.fromEntries(
        OUTCOMES.map((outcome) => [outcome, flag(PAYMENT_OUTCOMES[outcome].description)]),
      ) as OutcomeFlags),
      all: flag('every pending payment'),
      wait: duration('wait for the payment (and the server) to appear'),
      delivery: choice('order', 'order of IPN and redirect', DELIVERY_ORDERS),
      requireDelivery: flag('exit 1 unless the first attempt was answered with 2xx'),
    },
    examples: ['pay --approve', 'pay order-1 --cancel', 'pay --approve --wait 30s --require-delivery'],
  },
  list: {
    summary: 'payments, newest first',
    fields: pagedBy({
      status: choice('status', 'only those of this status', PAYMENT_STATUSES),
      mode: choice('mode', 'only those of this mode', MODES),
      identifier: text('identifier', 'only those of this identifier'),
    }),
    examples: ['payments list --status pending --limit 10'],
  },
  show: {
    args: ['<ref>'],
    summary: 'one payment and its whole story',
    options: {
      curl: flag('its IPNs as curl commands, ready to paste'),
      har: flag('its IPNs as a HAR 1.2 document'),
    },
    examples: ['payments show order-1', 'payments show order-1 --curl'],
  },
  create: {
    summary: 'initiate a payment as a merchant would',
    fields: {
      amount: textOr(PAYMENT_DEFAULTS.amount, 'amount', 'amount as decimal text'),
      currency: textOr(PAYMENT_DEFAULTS.currency, 'code', 'currency code'),
      identifier: text('text', 'identifier of the merchant (default: made up)'),
      details: textOr(PAYMENT_DEFAULTS.details, 'text', 'what it is for'),
      ipnUrl: textOr(PAYMENT_DEFAULTS.ipnUrl, 'url', 'receiver of the IPN'),
      successUrl: text(
        'url',
        'where the browser goes on success (default: a thank-you page of the emulator)',
      ),
      cancelUrl: text('url', 'where the browser goes on cancellation (default: a page of the emulator)'),
      siteLogo: text('url', 'logo of the merchant (default: one of the emulator)'),
      theme: choice('theme', 'theme of the checkout', CHECKOUT_THEMES),
      customerName: textOr(PAYMENT_DEFAULTS.customerName, 'text', 'name of the customer'),
      customerEmail: textOr(PAYMENT_DEFAULTS.customerEmail, 'e-mail', 'e-mail of the customer'),
    },
    options: {
      live: flag('in live mode (default: sandbox)'),
      open: flag('open the checkout in the browser'),
    },
    examples: ['payments create --amount 49.90 --currency EUR --ipn-url http://localhost:3000/ipn --open'],
  },
} as const satisfies Declarations;
export type Actions = ActionsOf<typeof COMMANDS>;

const { pay: PAY, ...BELOW } = COMMANDS;
const load = () => import('../actions/payments.ts');

export const pay = group({ commands: { pay: PAY }, load });

export const payments = group({
  name: 'payments',
  summary: 'list, show and create payments',
  examples: ['payments', 'payments show order-1', 'payments create --amount 49.90'],
  commands: BELOW,
  load,
});
