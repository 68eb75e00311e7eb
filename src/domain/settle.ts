import { GatewayError, hint } from '../contract/error.ts';
import { timestamp } from '../contract/time.ts';
import {
  type DeliveryOrder,
  OUTCOMES,
  PAYMENT_OUTCOMES,
  type PaymentOutcome,
  type SettledBy,
} from '../contract/vocabulary.ts';
import type { Wallet } from '../contract/wallet.ts';
import { deliveryOf } from './delivery.ts';
import { add, compare, subtract } from './money.ts';
import { withEvent } from './payment.ts';
import type { Context, Settings } from './settings.ts';
import type { Delivery, Payment, RuleResult, State } from './state.ts';
import { payingWallet } from './wallet.ts';

/** The delay of the IPN with `redirect-then-ipn`, in milliseconds of the emulator's clock (chosen). */
export const REDIRECT_HEAD_START_MS = 500;

export interface Settlement {
  payment: Payment;
  /** In the order of sending; empty if no IPN is due. */
  deliveries: Delivery[];
  /** The merchant's exact text, except for a mapped host; null if the browser stays on the checkout. */
  redirectUrl: string | null;
}

export interface SettleRequest {
  outcome: PaymentOutcome;
  delivery: DeliveryOrder;
  by: SettledBy;
}

/**
 * Rule: settles a pending payment, moves the money (live mode only) and schedules the IPN, in one change so that no part
 * can be lost.
 *
 * @throws GatewayError `wrong_state` if the payment is already settled
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
    throw new GatewayError(
      'state_damaged',
      `payment ${payment.id} belongs to a merchant that does not exist`,
    );
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
  const { amount, charge, currency } = payment;
  const earned = add(merchant.balances[currency] ?? '0', subtract(amount, charge));
  return {
    change: {
      payments: [settled],
      // The balance may become negative, which is a warning.
      ...(wallet && { wallets: [{ ...wallet, balance: subtract(wallet.balance, amount) }] }),
      ...(movesMoney && {
        merchants: [{ ...merchant, balances: { ...merchant.balances, [currency]: earned } }],
      }),
      ...(deliveries.length && { deliveries }),
    },
    result: {
      payment: settled,
      deliveries,
      redirectUrl: order === 'ipn-only' ? null : redirectOf(settled, outcome, context.settings),
    },
  };
}

/** @throws GatewayError `wrong_state` if the payment is not pending */
export function requirePending(payment: Payment): void {
  if (payment.status === 'pending') return;
  throw new GatewayError(
    'wrong_state',
    `payment ${payment.id} (identifier "${payment.identifier}") is already ${payment.status} (settled at ${payment.settledAt})`,
    { hint: hint`A settled payment cannot change: initiate a new one.` },
  );
}

function moneyWarnings({ amount, currency }: Payment, wallet: Wallet | undefined): string[] {
  if (!wallet) return [`no wallet has the currency ${currency}: nothing was debited`];
  return compare(wallet.balance, amount) < 0
    ? [`the balance of wallet ${wallet.id} was too small and is now negative`]
    : [];
}

type RedirectSettings = Pick<Settings, 'delivery' | 'mapped'>;

/** The redirect of a payment that settled automatically; null if the browser stays on the checkout. */
export function autoSettledRedirect(payment: Payment, settings: RedirectSettings): string | null {
  const order = payment.auto?.delivery ?? settings.delivery;
  if (payment.settledBy !== 'auto' || order === 'ipn-only') return null;
  const outcome = OUTCOMES.find((one) => PAYMENT_OUTCOMES[one].status === payment.status);
  return outcome === undefined ? null : redirectOf(payment, outcome, settings);
}

/** The redirect after an outcome; null if the browser stays on the checkout. */
function redirectOf(
  payment: Payment,
  outcome: PaymentOutcome,
  { mapped }: Pick<Settings, 'mapped'>,
): string | null {
  const { redirect } = PAYMENT_OUTCOMES[outcome];
  return redirect === null ? null : mapped(payment[redirect]);
}
