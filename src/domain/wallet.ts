import { amountProblem } from '../contract/amount.ts';
import { GatewayError } from '../contract/error.ts';
import type { Wallet } from '../contract/wallet.ts';
import { add, compare } from './money.ts';
import type { Payment, RuleResult, State } from './state.ts';

/** The wallet of an e-mail (case-insensitive) in a currency. */
export function findWallet(state: State, email: string, currency: string): Wallet | undefined {
  const wanted = email.trim().toLowerCase();
  return state.wallets.find(
    (wallet) => wallet.currency === currency && wallet.email.toLowerCase() === wanted,
  );
}

/** The first wallet that can pay an amount; otherwise the first one in its currency. */
export function payerOf(
  state: State,
  { amount, currency }: { amount: string; currency: string },
): { wallet: Wallet; canPay: boolean } | undefined {
  const solvent = state.wallets.find(
    (wallet) => wallet.currency === currency && compare(wallet.balance, amount) >= 0,
  );
  const wallet = solvent ?? firstWallet(state, currency);
  return wallet && { wallet, canPay: solvent !== undefined };
}

function firstWallet(state: State, currency: string): Wallet | undefined {
  return state.wallets.find((wallet) => wallet.currency === currency);
}

/** The wallet of the e-mail entered on the checkout, of the customer's e-mail, or the first one in the currency (chosen). */
export function payingWallet(state: State, payment: Payment): Wallet | undefined {
  const { payerEmail, customerEmail, currency } = payment;
  return (
    (payerEmail === null ? undefined : findWallet(state, payerEmail, currency)) ??
    findWallet(state, customerEmail, currency) ??
    firstWallet(state, currency)
  );
}

/** @throws GatewayError `not_found` for an unknown wallet, `invalid_fields` for an invalid amount */
export function fundWallet(state: State, reference: string, amount: string): RuleResult<Wallet> {
  const wallet = state.wallets.get(reference);
  if (!wallet) {
    const known = [...state.wallets.values()].map(({ id }) => id);
    throw new GatewayError('not_found', `no wallet has the id "${reference}"; known: ${known.join(', ')}`);
  }
  const problem = amountProblem(amount);
  if (problem) throw new GatewayError('invalid_fields', `amount ${problem}`);
  const funded = { ...wallet, balance: add(wallet.balance, amount) };
  return { change: { wallets: [funded] }, result: funded };
}
