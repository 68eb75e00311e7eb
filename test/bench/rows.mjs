// The rows of the report, and how one number is made of many.
import { TARGETS } from './targets.mjs';

/** The value that a share of the numbers stays at or below. */
export function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (numbers) => quantile(numbers, 0.5);

/** A number that has a target. `note` says what it was made of. */
export function measured(what, value, note = '') {
  const { atLeast, atMost, unit = '' } = TARGETS[what];
  const [sign, limit] = atLeast === undefined ? ['<=', limitOf(atMost)] : ['>=', atLeast];
  const met = atLeast === undefined ? value <= limit : value >= limit;
  return { what, value, unit, note, target: `${sign} ${limit}${unit}`, met };
}

function limitOf(atMost) {
  return typeof atMost === 'function' ? atMost(Number.parseInt(process.versions.node, 10)) : atMost;
}

/** A number without a target. */
export function fact(what, value, unit = '', note = '') {
  return { what, value, unit, note, target: '', met: null };
}

/**
 * What others are measured against. How much its rounds differ from each other tells how quiet the machine was; the
 * outermost tenths do not count.
 */
export function yardstick(what, numbers, unit, note = '') {
  const spread = (quantile(numbers, 0.9) - quantile(numbers, 0.1)) / median(numbers);
  const notes = [note, `rounds within ${percent(spread)}`].filter(Boolean).join(', ');
  return { ...fact(what, median(numbers), unit, notes), spread };
}

/** The row of a section, or of a part of one, that could not be measured. */
export function unmeasured(what, reason) {
  const [first] = reason.split('\n');
  return { what, value: null, unit: '', note: `not measured: ${first}`, target: '', met: null };
}

export const percent = (share) => `${(share * 100).toFixed(1)} %`;

/** A rate for people. */
export const perSecond = (rate) => `${Math.round(rate).toLocaleString('en')}/s`;

export const ms = (value) => `${value.toFixed(value < 20 ? 1 : 0)} ms`;
