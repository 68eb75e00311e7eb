import { GatewayError } from '../contract/error.ts';
import { hint } from '../contract/hint.ts';
import { OUTCOMES, PAYMENT_OUTCOMES, type PaymentOutcome } from '../contract/outcomes.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { DeliveryOrder, SettledBy } from '../contract/vocabulary.ts';
import type { Wallet } from '../contract/wallet.ts';
import { deliveryOf } from './delivery.ts';
import { credit, debit, findWallet, firstWallet } from './merchant.ts';
import { compare, subtract } from './money.ts';
import { withEvent } from './payment.ts';
import type { Context, Settings } from './settings.ts';
import type { Delivery, Payment, RuleResult, State } from './state.ts';

/** Milliseconds of the emulator's clock by which `redirect-then-ipn` delays the IPN (chosen). */
export const REDIRECT_HEAD_START_MS = 500;

export interface Settlement {
  payment: Payment;
  /** In the order in which they go out; empty when no IPN is due. */
  deliveries: Delivery[];
  /** Exactly the merchant's text, but for a host that is mapped. Null where the browser stays. */
  redirectUrl: string | null;
}

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
): RuleResult<Settlement> {
  requirePending(payment);
  const { outcome, delivery: order, by } = request;
  const { status, ipnStatus } = PAYMENT_OUTCOMES[outcome];
  const merchant = state.merchants.get(payment.merchantId);
  if (!merchant)
    throw new GatewayError('state_damaged', `payment ${payment.id} names a merchant that does not exist`);
  const movesMoney = payment.mode === 'live' && status === 'succeeded';
  const wallet = movesMoney ? payingWallet(state, payment) : undefined;
  const closed: Payment = {
    ...payment,
    status,
    settledAt: timestamp(context.now),
    settledBy: by,
    walletId: wallet?.id ?? null,
    warnings: movesMoney ? [...payment.warnings, ...moneyWarnings(payment, wallet)] : payment.warnings,
  };
  const settled = withEvent(closed, context, 'settled', status);
  const holder = wallet?.holder ?? payment.customerName;
  const dueAt = context.now + (order === 'redirect-then-ipn' ? REDIRECT_HEAD_START_MS : 0);
  const isSent = order !== 'redirect-only' && context.settings.ipn.on.has(status);
  const copies = order === 'ipn-twice' ? 2 : 1;
  const deliveries = Array.from({ length: isSent ? copies : 0 }, () =>
    deliveryOf({ payment: settled, status: ipnStatus, holder }, merchant, context, dueAt),
  );
  const income = subtract(payment.amount, payment.charge);
  return {
    change: {
      payments: [settled],
      ...(wallet && { wallets: [debit(wallet, payment.amount)] }),
      ...(movesMoney && { merchants: [credit(merchant, payment.currency, income)] }),
      ...(deliveries.length && { deliveries }),
    },
    result: {
      payment: settled,
      deliveries,
      redirectUrl: order === 'ipn-only' ? null : redirectOf(settled, outcome, context.settings),
    },
  };
}

/** Refuses what needs a pending payment. @throws GatewayError `wrong_state` */
export function requirePending(payment: Payment): void {
  if (payment.status === 'pending') return;
  throw new GatewayError(
    'wrong_state',
    `payment ${payment.id} (identifier "${payment.identifier}") is already ${payment.status}, since ${payment.settledAt}`,
    { hint: hint`A settled payment stays as it is: initiate a new one.` },
  );
}

function moneyWarnings({ amount, currency }: Payment, wallet: Wallet | undefined): string[] {
  if (!wallet) return [`there is no wallet in ${currency}: nothing was debited`];
  return compare(wallet.balance, amount) < 0
    ? [`the balance of wallet ${wallet.id} was too small: it is below zero now`]
    : [];
}

/** The wallet of the e-mail entered on the page, else of the customer's e-mail, else the first in the currency (chosen). */
function payingWallet(state: State, payment: Payment): Wallet | undefined {
  return (
    (payment.payerEmail === null ? undefined : findWallet(state, payment.payerEmail, payment.currency)) ??
    findWallet(state, payment.customerEmail, payment.currency) ??
    firstWallet(state, payment.currency)
  );
}

type RedirectSettings = Pick<Settings, 'delivery' | 'mapped'>;

/** Where the checkout of a payment that settled itself sends the browser; null where it stays. */
export function selfSettledAddress(payment: Payment, settings: RedirectSettings): string | null {
  const order = payment.auto?.delivery ?? settings.delivery;
  if (payment.settledBy !== 'auto' || order === 'ipn-only') return null;
  const outcome = OUTCOMES.find((one) => PAYMENT_OUTCOMES[one].status === payment.status);
  return outcome === undefined ? null : redirectOf(payment, outcome, settings);
}

/** Where the browser goes after an outcome; null where it stays. */
export function redirectOf(
  payment: Payment,
  outcome: PaymentOutcome,
  { mapped }: Pick<Settings, 'mapped'>,
): string | null {
  const { redirect } = PAYMENT_OUTCOMES[outcome];
  return redirect === null ? null : mapped(payment[redirect]);
}
