// Rows of the report.

/** The middle of some numbers. */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

/** A row whose number should be at least the target. */
export function atLeast(what, value, target, unit = '', note = '') {
  return { what, measured: shown(value, unit, note), target: `>= ${target}${unit}`, met: value >= target };
}

/** A row whose number should be at most the target. */
export function atMost(what, value, target, unit = '', note = '') {
  return { what, measured: shown(value, unit, note), target: `<= ${target}${unit}`, met: value <= target };
}

/** A row without a target. */
export function fact(what, measured) {
  return { what, measured, target: '', met: null };
}

function shown(value, unit, note) {
  return `${value.toFixed(2)}${unit}${note && `  (${note})`}`;
}

/** A rate for people. */
export function perSecond(rate) {
  return `${Math.round(rate).toLocaleString('en')}/s`;
}
