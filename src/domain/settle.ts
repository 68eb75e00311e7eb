import { GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import type { Merchant } from '../contract/merchant.ts';
import {
  type DeliveryOrder,
  OUTCOMES,
  type PaymentOutcome,
  type PaymentStatus,
  type SettledBy,
} from '../contract/vocabulary.ts';
import type { Wallet } from '../contract/wallet.ts';
import { IPN_STATUS, newDelivery } from './ipn.ts';
import { credit, debit, findWallet, firstWallet } from './merchant.ts';
import { compare, subtract } from './money.ts';
import { withEvent } from './payment.ts';
import { type Context, timestamp } from './settings.ts';
import type { Change, Delivery, Outcome, Payment, State } from './state.ts';

/** The final state that each outcome leads to. */
export const STATUS_AFTER = {
  approve: 'succeeded',
  cancel: 'canceled',
  fail: 'failed',
  expire: 'expired',
} as const satisfies Record<PaymentOutcome, PaymentStatus>;

/** With `redirect-then-ipn` the IPN is due so much later, on the emulator's clock, that the redirect is out first (chosen). */
export const REDIRECT_HEAD_START_MS = 500;

/** A settled payment, what goes out because of it, and where the browser goes. */
export interface Settlement {
  payment: Payment;
  /** In the order in which they go out; empty when no IPN is due. */
  deliveries: Delivery[];
  /** Exactly the merchant's text. Null where the browser stays. */
  redirectUrl: string | null;
}

/** How a payment is settled. */
export interface SettleRequest {
  outcome: PaymentOutcome;
  delivery: DeliveryOrder;
  by: SettledBy;
}

/**
 * Rule: one outcome settles a pending payment, moves the money (live mode only) and makes the IPN due, in ONE
 * change: whatever happens afterwards, neither half can be lost.
 *
 * @throws GatewayError `wrong_state` when the payment is settled already
 */
export function settle(
  state: State,
  payment: Payment,
  request: SettleRequest,
  context: Context,
): Outcome<Settlement> {
  requirePending(payment);
  const status = STATUS_AFTER[request.outcome];
  const merchant = state.merchants.get(payment.merchantId);
  if (!merchant)
    throw new GatewayError('state_damaged', `payment ${payment.id} names a merchant that does not exist`);
  const wallet = payment.mode === 'live' && status === 'succeeded' ? payingWallet(state, payment) : undefined;
  const settled = close(payment, status, request.by, wallet, context);
  const change: Change = { payments: [settled], ...moveMoney(settled, wallet, merchant) };
  const deliveries = dueDeliveries(settled, status, request.delivery, wallet?.holder, merchant, context);
  const redirectUrl = request.delivery === 'ipn-only' ? null : redirectOf(settled, request.outcome);
  return {
    change: deliveries.length ? { ...change, deliveries } : change,
    result: { payment: settled, deliveries, redirectUrl },
  };
}

/**
 * Refuses whatever needs a pending payment.
 *
 * @throws GatewayError `wrong_state`
 */
export function requirePending(payment: Payment): void {
  if (payment.status === 'pending') return;
  throw new GatewayError(
    'wrong_state',
    `payment ${payment.id} (identifier "${payment.identifier}") is already ${payment.status}, since ${payment.settledAt}`,
    { hint: hint`A settled payment stays as it is: initiate a new one.` },
  );
}

function close(
  payment: Payment,
  status: PaymentStatus,
  by: SettledBy,
  wallet: Wallet | undefined,
  context: Context,
): Payment {
  const warnings = [...payment.warnings];
  if (wallet && compare(wallet.balance, payment.amount) < 0) {
    warnings.push(`the balance of wallet ${wallet.id} was too small: it is below zero now`);
  }
  if (payment.mode === 'live' && status === 'succeeded' && !wallet) {
    warnings.push(`there is no wallet in ${payment.currency}: nothing was debited`);
  }
  const settled: Payment = {
    ...payment,
    status,
    settledAt: timestamp(context.now),
    settledBy: by,
    walletId: wallet?.id ?? null,
    warnings,
  };
  return withEvent(settled, context.now, 'settled', status);
}

/** The wallet of the e-mail entered on the page, else of the customer's e-mail, else the first in the currency (chosen). */
function payingWallet(state: State, payment: Payment): Wallet | undefined {
  return (
    (payment.payerEmail === null ? undefined : findWallet(state, payment.payerEmail, payment.currency)) ??
    findWallet(state, payment.customerEmail, payment.currency) ??
    firstWallet(state, payment.currency)
  );
}

function moveMoney(payment: Payment, wallet: Wallet | undefined, merchant: Merchant): Change {
  if (payment.mode !== 'live' || payment.status !== 'succeeded') return {};
  const income = subtract(payment.amount, payment.charge);
  const merchants = [credit(merchant, payment.currency, income)];
  return wallet ? { wallets: [debit(wallet, payment.amount)], merchants } : { merchants };
}

function dueDeliveries(
  payment: Payment,
  status: Exclude<PaymentStatus, 'pending'>,
  order: DeliveryOrder,
  holder: string | undefined,
  merchant: Merchant,
  context: Context,
): Delivery[] {
  if (order === 'redirect-only' || !context.settings.ipn.on.has(status)) return [];
  const make = () =>
    newDelivery(payment, IPN_STATUS[status], holder ?? payment.customerName, merchant, context);
  if (order === 'ipn-twice') return [make(), make()];
  const head = order === 'redirect-then-ipn' ? REDIRECT_HEAD_START_MS : 0;
  return [{ ...make(), nextAttemptAt: timestamp(context.now + head) }];
}

/**
 * Where the checkout of a payment that settled itself sends the browser; null where it stays.
 *
 * @param order the delivery order that the server was started with
 */
export function selfSettledAddress(payment: Payment, order: DeliveryOrder): string | null {
  if (payment.settledBy !== 'auto' || (payment.auto?.delivery ?? order) === 'ipn-only') return null;
  const outcome = OUTCOMES.find((one) => STATUS_AFTER[one] === payment.status);
  return outcome === undefined ? null : redirectOf(payment, outcome);
}

/**
 * Where the browser goes after an outcome. success_url and cancel_url: documented. A failed payment goes to
 * cancel_url, the only address for "not paid"; an expired one stays on its page (chosen).
 */
export function redirectOf(payment: Payment, outcome: PaymentOutcome): string | null {
  if (outcome === 'approve') return payment.successUrl;
  return outcome === 'expire' ? null : payment.cancelUrl;
}
