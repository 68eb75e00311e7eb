import { didYouMean, GatewayError } from './error.ts';
import { TAMPERINGS, type Tampering } from './vocabulary.ts';

/** The tampering of this name. @throws GatewayError `invalid_fields`, with the nearest known name */
export function requireTampering(name: string): Tampering {
  const known = TAMPERINGS.find((tampering) => tampering === name);
  if (known) return known;
  const problem = `tamper must be one of ${TAMPERINGS.join(', ')} (got "${name}")`;
  throw new GatewayError('invalid_fields', problem + didYouMean(name, TAMPERINGS));
}
