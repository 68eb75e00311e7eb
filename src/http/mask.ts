import { textMask } from '../contract/secret.ts';
import type { AppParts, ServerRuntime } from './environment.ts';

/** What masks for the secrets of an emulator: keys change rarely, what is shown changes all the time. */
const made = new WeakMap<ServerRuntime, Masking>();

interface Masking {
  /** Tells those in force from others. */
  key: string;
  /** Those and the newest that were replaced: what is remembered may hold them. */
  known: readonly string[];
  mask: (text: string) => string;
}

const MAX_KNOWN = 100;

/**
 * What may be shown of a value: the same without any merchant's secret key or the control token in any of its texts.
 * The one place where that is decided, for events, the request log, records, log lines and pages alike.
 */
export function mask<Value>(value: Value, { runtime, state }: Pick<AppParts, 'runtime' | 'state'>): Value {
  const keys = Array.from(state.current.merchants.values(), ({ secretKey }) => secretKey);
  const secrets = runtime.controlToken === null ? keys : [runtime.controlToken, ...keys];
  const key = secrets.join('\n');
  let masking = made.get(runtime);
  if (masking?.key !== key) {
    const former = masking?.known.slice(0, MAX_KNOWN) ?? [];
    const known = [...new Set([...secrets, ...former])];
    masking = { key, known, mask: textMask(known) };
    made.set(runtime, masking);
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
