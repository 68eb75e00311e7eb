import { isEmail } from '../contract/address.ts';
import { type CheckoutProblem, CODE_LIFETIME_MS, MAX_ENTRY, MAX_WRONG_CODES } from '../contract/checkout.ts';
import { timestamp } from '../contract/time.ts';
import { compare } from './money.ts';
import { withEvent } from './payment.ts';
import type { Context } from './settings.ts';
import type { Message, Payment, RuleResult, State } from './state.ts';
import { findWallet } from './wallet.ts';

type Problem = CheckoutProblem | null;

/** Rule: the customer enters an e-mail. In live mode, a new code is sent to it. */
export function enterEmail(
  state: State,
  payment: Payment,
  given: string,
  context: Context,
): RuleResult<Problem> {
  const email = given.trim();
  const problem = emailProblem(state, payment, email, context);
  if (problem) {
    const rejected = withEvent(payment, context, 'email_refused', email.slice(0, MAX_ENTRY), problem);
    return { change: { payments: [rejected] }, result: problem };
  }
  const entered = withEvent({ ...payment, payerEmail: email }, context, 'email_entered', email);
  return payment.mode === 'sandbox'
    ? { change: { payments: [entered] }, result: null }
    : { ...sendCode(entered, email, context), result: null };
}

function emailProblem(state: State, payment: Payment, email: string, context: Context): Problem {
  if (!isEmail(email)) return 'email_invalid';
  if (payment.mode === 'sandbox') {
    const matches = email.toLowerCase() === context.settings.sandboxEmail.toLowerCase();
    return matches ? null : 'email_not_test';
  }
  return walletProblem(state, payment, email);
}

/** Rule: a new code replaces the previous one (live mode; the sandbox has a fixed code). */
export function resendCode(payment: Payment, context: Context): RuleResult<null> {
  return payment.mode === 'live' && payment.payerEmail !== null
    ? sendCode(payment, payment.payerEmail, context)
    : { change: {}, result: null };
}

function sendCode(payment: Payment, email: string, context: Context): RuleResult<null> {
  const { ids, now } = context;
  const message: Message = {
    id: ids.message(),
    paymentId: payment.id,
    identifier: payment.identifier,
    email,
    code: ids.code(),
    sentAt: timestamp(now),
    expiresAt: timestamp(now + CODE_LIFETIME_MS),
  };
  const sent = withEvent({ ...withoutCode(payment), messageId: message.id }, context, 'code_sent', email);
  return { change: { payments: [sent], messages: [message] }, result: null };
}

/** Rule: the customer returns to enter another e-mail. */
export function changeEmail(payment: Payment): RuleResult<null> {
  return { change: { payments: [{ ...withoutCode(payment), payerEmail: null }] }, result: null };
}

function withoutCode({ wrongCodes: _, ...payment }: Payment): Payment {
  return { ...payment, messageId: null };
}

/** Why the newest code of a live payment cannot be used any more; null if it can, or if none was sent. */
export function unusableCode(
  state: State,
  payment: Payment,
  now: number,
): 'code_expired' | 'code_spent' | null {
  const message = state.messages.get(payment.messageId ?? '');
  if (!message) return null;
  if ((payment.wrongCodes ?? 0) >= MAX_WRONG_CODES) return 'code_spent';
  return timestamp(now) >= message.expiresAt ? 'code_expired' : null;
}

/** Why this code is rejected now, or null. */
export function codeProblem(state: State, payment: Payment, given: string, context: Context): Problem {
  const code = given.replace(/\s/g, '');
  if (payment.mode === 'sandbox') return code === context.settings.sandboxCode ? null : 'code_wrong';
  const unusable = unusableCode(state, payment, context.now);
  const isWrong = code !== state.messages.get(payment.messageId ?? '')?.code;
  if (isWrong && unusable !== 'code_spent') return 'code_wrong';
  return unusable ?? walletProblem(state, payment, payment.payerEmail ?? '');
}

function walletProblem(state: State, payment: Payment, email: string): Problem {
  const wallet = findWallet(state, email, payment.currency);
  if (!wallet) return 'wallet_unknown';
  return compare(wallet.balance, payment.amount) < 0 ? 'balance_too_small' : null;
}

/** Rule: adds a rejected code to the payment's history. In live mode, too many wrong entries invalidate the code. */
export function rejectCode(
  payment: Payment,
  given: string,
  problem: CheckoutProblem,
  context: Context,
): RuleResult<CheckoutProblem> {
  const wrongCodes = (payment.wrongCodes ?? 0) + 1;
  const isWrong = problem === 'code_wrong' && payment.messageId !== null;
  const result = isWrong && wrongCodes >= MAX_WRONG_CODES ? 'code_spent' : problem;
  const counted = isWrong ? { ...payment, wrongCodes } : payment;
  const rejected = withEvent(counted, context, 'code_refused', given.trim().slice(0, MAX_ENTRY), result);
  return { change: { payments: [rejected] }, result };
}
