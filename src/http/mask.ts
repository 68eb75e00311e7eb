import { maskedIn, textMask } from '../system/secret.ts';
import type { UseCases } from '../usecases/use-cases.ts';

/** Masks secrets in all texts of a value. Events, the request log, records, log lines and pages all use it. */
export type Mask = <Value>(value: Value) => Value;

/**
 * Creates a mask of the control token and of the merchants' secret keys. Replaced keys, which old records may contain,
 * stay masked.
 */
export function createMask({ merchants }: Pick<UseCases, 'merchants'>, controlToken: string | null): Mask {
  const secrets = new Set(controlToken === null ? [] : [controlToken]);
  const readKeys = () => {
    for (const { secretKey } of merchants.all.values()) secrets.add(secretKey);
  };
  readKeys();
  return (value) => {
    readKeys();
    return maskedIn(value, textMask([...secrets]));
  };
}
