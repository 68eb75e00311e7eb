import { maskedIn, textMask } from '../system/secret.ts';
import type { UseCases } from '../usecases/use-cases.ts';

/** Masks secrets in all texts of a value. Events, the request log, records, log lines and pages all use it. */
export type Mask = <Value>(value: Value) => Value;

/** Maximum number of replaced secrets, which old records may contain, that stay masked. */
const MAX_FORMER = 100;

/** Creates a mask of the control token and of the merchants' secret keys, as they are now and after each change. */
export function createMask({ merchants }: Pick<UseCases, 'merchants'>, controlToken: string | null): Mask {
  const secretsNow = () => {
    const keys = Array.from(merchants.all.values(), ({ secretKey }) => secretKey);
    return controlToken === null ? keys : [controlToken, ...keys];
  };
  let known = secretsNow();
  let current = known.join('\n');
  let maskText = textMask(known);
  return (value) => {
    const secrets = secretsNow();
    const now = secrets.join('\n');
    if (now !== current) {
      known = [...new Set([...secrets, ...known.slice(0, MAX_FORMER)])];
      current = now;
      maskText = textMask(known);
    }
    return maskedIn(value, maskText);
  };
}
