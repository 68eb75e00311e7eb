import type { OutcomeRule } from '../contract/configuration.ts';
import { parseDuration } from '../contract/duration.ts';
import { nearestName } from '../contract/error.ts';
import { OUTCOMES, type PaymentOutcome } from '../contract/outcomes.ts';
import type { AutoSettling } from '../contract/payment.ts';
import { timestamp } from '../contract/timestamp.ts';
import { globMatches } from './faults.ts';

/*
 * Payments that settle themselves, so that a headless suite gets every outcome without touching the CLI. All of it
 * is chosen; the service interface has no magic values.
 */

/**
 * The magic values that always work: the e-mail of the customer names the outcome. The top-level domain is reserved
 * for tests, so that no real customer can have one.
 */
export const MAGIC_EMAILS: readonly (OutcomeRule & { email: string })[] = [
  ...OUTCOMES.map((outcome) => ({ email: `${outcome}@gateway-sim.test`, outcome })),
  { email: 'pending@gateway-sim.test', outcome: 'pending' },
];

/** The magic e-mail that was probably meant by one that looks like them and is none. */
export function mistypedMagic(email: string): string | undefined {
  const written = email.toLowerCase();
  const known = MAGIC_EMAILS.map((magic) => magic.email);
  if (!written.endsWith('@gateway-sim.test') || known.includes(written)) return undefined;
  return nearestName(written, known) ?? known[0];
}

export interface AutoSettings {
  /** Tried in order, before the magic e-mails; the first that fits decides. */
  rules: readonly OutcomeRule[];
  /** For what no rule and no magic e-mail fits; null leaves it pending. */
  outcome: PaymentOutcome | null;
  /** Milliseconds on the emulator's clock from initiation, where the rule does not say. */
  delayMs: number;
}

/** The values of a payment that rules look at, as they were sent. */
type AutoSubject = Record<'identifier' | 'email' | 'amount', string>;

/** How and when a payment initiated now settles itself; null when it waits for somebody. */
export function autoSettling(
  subject: AutoSubject,
  { rules, outcome, delayMs }: AutoSettings,
  now: number,
): AutoSettling | null {
  const magic = subject.email.toLowerCase();
  const rule = rules.find((one) => fits(one, subject)) ?? MAGIC_EMAILS.find(({ email }) => email === magic);
  const decided = rule?.outcome ?? outcome;
  if (decided === null || decided === 'pending') return null;
  const wait = (rule?.delay === undefined ? undefined : parseDuration(rule.delay)) ?? delayMs;
  return { outcome: decided, at: timestamp(now + wait), delivery: rule?.delivery ?? null };
}

function fits({ identifier = '*', email = '*', amount = '*' }: OutcomeRule, subject: AutoSubject): boolean {
  return (
    globMatches(identifier, subject.identifier) &&
    globMatches(email.toLowerCase(), subject.email.toLowerCase()) &&
    globMatches(amount, subject.amount)
  );
}
