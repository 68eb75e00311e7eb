import { shorten } from './text.ts';

/** Lifetime of a verification code of a live checkout (chosen). */
export const CODE_LIFETIME_MS = 10 * 60_000;

/** Wrong entries after which a verification code is locked, so that it cannot be guessed (chosen). */
export const MAX_WRONG_CODES = 5;

/** Maximum stored characters of a rejected entry: no e-mail address is longer (chosen). */
export const MAX_ENTRY = 320;

/**
 * Why a step was rejected, for the developer: in the log and in the payment's timeline. The page has its own texts, in
 * the customer's language.
 */
export const PROBLEM_WORDS = {
  email_invalid: 'not an e-mail address',
  email_not_test: 'the sandbox accepts only its test e-mail',
  wallet_unknown: 'no wallet in this currency has this e-mail',
  balance_too_small: 'the balance of the wallet is too low',
  code_wrong: 'wrong code',
  code_expired: 'the code has expired',
  code_spent: `wrong code for the ${MAX_WRONG_CODES}th time, so the code is locked`,
} as const;
export type CheckoutProblem = keyof typeof PROBLEM_WORDS;

/** What the hosted checkout of a pending payment asks for next. */
export const stepOf = ({ payerEmail }: { payerEmail: string | null }) =>
  payerEmail === null ? 'email' : 'code';

/** The details of a payment event, in words. */
export function describeEvent(event: {
  value: string | null;
  problem?: CheckoutProblem | undefined;
}): string | null {
  const { value, problem } = event;
  return problem === undefined ? value : `${shorten(value ?? '') || 'nothing'} (${PROBLEM_WORDS[problem]})`;
}
