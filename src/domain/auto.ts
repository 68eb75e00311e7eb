import type { OutcomeRule } from '../contract/configuration.ts';
import { nearestName } from '../contract/error.ts';
import type { AutoSettling } from '../contract/payment.ts';
import { parseDuration, timestamp } from '../contract/time.ts';
import { OUTCOMES, type PaymentOutcome } from '../contract/vocabulary.ts';
import { globMatches } from './faults.ts';

/*
 * With automatic settling, a headless test suite gets every outcome without a command. All of this is our choice: the
 * service interface has no magic values.
 */

/** The customer e-mails that name an outcome. No real customer has one, because `.test` is reserved. */
export const MAGIC_EMAILS: readonly (OutcomeRule & { email: string })[] = [
  ...OUTCOMES.map((outcome) => ({ email: `${outcome}@gateway-sim.test`, outcome })),
  { email: 'pending@gateway-sim.test', outcome: 'pending' },
];

/** The magic e-mail that a misspelled one probably means. */
export function mistypedMagic(email: string): string | undefined {
  const written = email.toLowerCase();
  const known = MAGIC_EMAILS.map((magic) => magic.email);
  if (!written.endsWith('@gateway-sim.test') || known.includes(written)) return undefined;
  return nearestName(written, known) ?? known[0];
}

export interface AutoSettings {
  /** Evaluated in order, before the magic e-mails. The first match decides. */
  rules: readonly OutcomeRule[];
  /** The outcome without a matching rule or magic e-mail; null leaves the payment pending. */
  outcome: PaymentOutcome | null;
  /** Default delay after initiation, in milliseconds of the emulator's clock. */
  delayMs: number;
}

/** The values that rules match, as sent. */
type AutoSubject = Record<'identifier' | 'email' | 'amount', string>;

/** How and when a new payment settles automatically; null if it does not. */
export function autoSettling(
  subject: AutoSubject,
  { rules, outcome, delayMs }: AutoSettings,
  now: number,
): AutoSettling | null {
  const magic = subject.email.toLowerCase();
  const rule =
    rules.find((one) => matches(one, subject)) ?? MAGIC_EMAILS.find(({ email }) => email === magic);
  const chosen = rule?.outcome ?? outcome;
  if (chosen === null || chosen === 'pending') return null;
  const wait = (rule?.delay === undefined ? undefined : parseDuration(rule.delay)) ?? delayMs;
  return { outcome: chosen, at: timestamp(now + wait), delivery: rule?.delivery ?? null };
}

function matches(
  { identifier = '*', email = '*', amount = '*' }: OutcomeRule,
  subject: AutoSubject,
): boolean {
  return (
    globMatches(identifier, subject.identifier) &&
    globMatches(email.toLowerCase(), subject.email.toLowerCase()) &&
    globMatches(amount, subject.amount)
  );
}
