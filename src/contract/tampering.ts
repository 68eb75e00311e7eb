import { GatewayError, nearestName } from './error.ts';
import { TAMPERINGS, type Tampering } from './vocabulary.ts';

/**
 * The tampering of this name.
 *
 * @throws GatewayError `invalid_fields`, with the nearest known name
 */
export function requireTampering(name: string): Tampering {
  const known = TAMPERINGS.find((tampering) => tampering === name);
  if (known) return known;
  const meant = nearestName(name, TAMPERINGS);
  throw new GatewayError(
    'invalid_fields',
    `tamper must be one of ${TAMPERINGS.join(', ')} (got "${name}")${meant ? `: did you mean ${meant}?` : ''}`,
  );
}
