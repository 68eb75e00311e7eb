import { didYouMean, GatewayError } from './error.ts';
import { shorten } from './text.ts';
import { namesOf } from './vocabulary.ts';

/** What can be forged in an IPN, so that a careful receiver rejects it (chosen). */
const TAMPERING_KINDS = {
  signature: { takesValue: false, words: 'signature' },
  amount: { takesValue: true, words: 'amount' },
  identifier: { takesValue: true, words: 'identifier' },
  status: { takesValue: true, words: 'status' },
  currency: { takesValue: true, words: 'currency' },
  case: { takesValue: false, words: 'letter case of the signature' },
  secret: { takesValue: false, words: 'signed with another key' },
} as const satisfies Record<string, { takesValue: boolean; words: string }>;
export type Tampering = keyof typeof TAMPERING_KINDS;
export const TAMPERINGS = namesOf(TAMPERING_KINDS);

/** The parts to forge in an IPN, with their new values; null for a generated value. */
export type Tamperings = ReadonlyMap<Tampering, string | null>;

/** A forged part of an IPN, with its values; null where the value does not matter. */
export interface Tampered {
  what: Tampering;
  was: string | null;
  is: string | null;
}

const WITH_VALUE = TAMPERINGS.filter((name) => TAMPERING_KINDS[name].takesValue);

/**
 * Reads tamperings, each a name or `identifier=<other>`.
 *
 * @throws GatewayError `invalid_fields` for an unknown name, with the nearest one, or for two values of the same name
 */
export function requireTamperings(texts: string | readonly string[] = []): Tamperings {
  const read = new Map<Tampering, string | null>();
  for (const written of [texts].flat()) {
    const [name = '', ...rest] = written.split('=');
    const value = rest.length ? rest.join('=') : null;
    const what = requireTampering(name);
    if (value !== null && !TAMPERING_KINDS[what].takesValue) {
      throw new GatewayError('invalid_fields', `tamper ${what} does not accept a value (got "${written}")`);
    }
    if (read.has(what) && read.get(what) !== value) {
      throw new GatewayError('invalid_fields', `tamper ${what} is given twice, with different values`);
    }
    read.set(what, value);
  }
  return read;
}

function requireTampering(name: string): Tampering {
  const known = TAMPERINGS.find((tampering) => tampering === name);
  if (known) return known;
  const problem = `tamper must be one of ${TAMPERINGS.join(', ')} (got "${name}")`;
  throw new GatewayError('invalid_fields', problem + didYouMean(name, TAMPERINGS));
}

/** The format of a tampering, as a JSON schema pattern. */
export const TAMPERING_PATTERN = `^(${TAMPERINGS.filter((name) => !TAMPERING_KINDS[name].takesValue).join('|')}|(${WITH_VALUE.join('|')})(=[\\s\\S]*)?)$`;

/** A text such as `amount 49.90 → 0.01, signature`. */
export function describeTamperings(tampered: readonly Tampered[]): string {
  const text = (value: string | null) => (value === null ? '' : shorten(value));
  return tampered
    .map(({ what, was, is }) => {
      const { words } = TAMPERING_KINDS[what];
      return was === null && is === null ? words : `${words} ${text(was)} → ${text(is)}`;
    })
    .join(', ');
}
