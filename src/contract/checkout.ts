import { shorten } from './address.ts';
import type { PaymentStatus } from './vocabulary.ts';

/** A verification code of a live checkout is valid this long (chosen). */
export const CODE_LIFETIME_MS = 10 * 60_000;

/** Maximum wrong entries, which end a verification code of a live checkout: it must not be found by trying (chosen). */
export const MAX_WRONG_CODES = 5;

/** Maximum characters of what was refused that are kept: no e-mail address has more (chosen). */
export const MAX_ENTRY = 320;

/** What the hosted checkout asks for next. */
export type CheckoutStep = 'email' | 'code' | 'closed';

/**
 * Why a step did not pass, for the developer: in the log and in the payment's timeline. The page has words of its own,
 * in the customer's language.
 */
export const PROBLEM_WORDS = {
  email_invalid: 'this is no e-mail address',
  email_not_test: 'the sandbox takes only its test e-mail',
  wallet_unknown: 'no wallet in this currency has it',
  balance_too_small: 'the balance of its wallet is too small',
  code_wrong: 'wrong code',
  code_expired: 'the code has expired',
  code_spent: `wrong code for the ${MAX_WRONG_CODES}th time, so it is not valid any more`,
} as const;
export type CheckoutProblem = keyof typeof PROBLEM_WORDS;

/** What an event of a payment tells beside its name, in words. */
export function describeEvent(event: {
  value: string | null;
  problem?: CheckoutProblem | undefined;
}): string | null {
  const { value, problem } = event;
  return problem === undefined ? value : `${shorten(value ?? '') || 'nothing'} (${PROBLEM_WORDS[problem]})`;
}

export function stepOf(payment: { status: PaymentStatus; payerEmail: string | null }): CheckoutStep {
  const { status, payerEmail } = payment;
  if (status !== 'pending') return 'closed';
  return payerEmail === null ? 'email' : 'code';
}
