import { shorten } from './address.ts';
import { didYouMean, GatewayError } from './error.ts';
import { TAMPERINGS, type Tampering } from './vocabulary.ts';

/** What is forged in an IPN, and the value that takes its place; null for one that is made up. */
export type Tamperings = ReadonlyMap<Tampering, string | null>;

/** What may be given another value: `amount=0.01`. */
const WITH_VALUE: readonly Tampering[] = ['amount', 'identifier', 'status', 'currency'];

/**
 * Reads tamperings, each by its name or as `identifier=<other>`.
 *
 * @throws GatewayError `invalid_fields` for an unknown one, with the nearest name, and for two values of one
 */
export function requireTamperings(given: string | readonly string[] = []): Tamperings {
  const read = new Map<Tampering, string | null>();
  for (const written of [given].flat()) {
    const [name = '', ...rest] = written.split('=');
    const value = rest.length ? rest.join('=') : null;
    const what = requireTampering(name);
    if (value !== null && !WITH_VALUE.includes(what)) {
      throw new GatewayError('invalid_fields', `tamper ${what} takes no value (got "${written}")`);
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

/** How one is written, as a pattern of JSON schema. */
export const TAMPERING_PATTERN = `^(${TAMPERINGS.filter((name) => !WITH_VALUE.includes(name)).join('|')}|(${WITH_VALUE.join('|')})(=[\\s\\S]*)?)$`;

/** What the note of an IPN that was tampered with says of it, behind the last problem. */
export const TAMPERED = 'tampered with: ';

/** Null for what was not tampered with. */
export function describeTamperings(tamperings: Tamperings | undefined): string | null {
  if (!tamperings?.size) return null;
  const all = [...tamperings].map(([what, value]) => (value === null ? what : `${what}=${shorten(value)}`));
  return TAMPERED + all.join(', ');
}
