import { textMask } from '../contract/secret.ts';
import type { AppParts, ServerRuntime } from './environment.ts';

/** Cached, because secrets change rarely. */
const maskings = new WeakMap<ServerRuntime, Masking>();

interface Masking {
  /** The current secrets. */
  key: string;
  /** Current secrets and the latest replaced ones, which old records may contain. */
  known: readonly string[];
  mask: (text: string) => string;
}

const MAX_KNOWN = 100;

/**
 * Masks the merchants' secret keys and the control token in all texts of a value. Events, the request log, records, log
 * lines and pages all use it.
 */
export function mask<Value>(value: Value, { runtime, state }: Pick<AppParts, 'runtime' | 'state'>): Value {
  const keys = Array.from(state.current.merchants.values(), ({ secretKey }) => secretKey);
  const secrets = runtime.controlToken === null ? keys : [runtime.controlToken, ...keys];
  const key = secrets.join('\n');
  let masking = maskings.get(runtime);
  if (masking?.key !== key) {
    const former = masking?.known.slice(0, MAX_KNOWN) ?? [];
    const known = [...new Set([...secrets, ...former])];
    masking = { key, known, mask: textMask(known) };
    maskings.set(runtime, masking);
  }
  return maskedValue(value, masking.mask);
}

function maskedValue<Value>(value: Value, maskText: (text: string) => string): Value;
function maskedValue(value: unknown, maskText: (text: string) => string): unknown {
  if (typeof value === 'string') return maskText(value);
  if (Array.isArray(value)) return value.map((item) => maskedValue(item, maskText));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [
    maskText(name),
    maskedValue(inner, maskText),
  ]);
  return Object.fromEntries(entries);
}
