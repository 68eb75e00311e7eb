// The rows of the report.
/** The quantile of numbers, such as 0.99 for p99. */
export function quantile(numbers, share) {
  const sorted = [...numbers].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

export const median = (numbers) => quantile(numbers, 0.5);

/** The median of rounds, with a target and the spread of the rounds. `note` says how they were measured. */
export function measured(what, numbers, { atLeast, atMost, unit = '' }, note = '') {
  const row = baseline(what, numbers, unit, note);
  if (atLeast !== undefined) return { ...row, target: `>= ${atLeast}`, met: row.value >= atLeast };
  return { ...row, target: `<= ${atMost}${unit}`, met: row.value <= atMost };
}

/** A number without a target. */
export function fact(what, value, unit = '', note = '') {
  return { what, value, unit, note, target: '', met: null };
}

/** A baseline. The spread of its rounds, without the highest and lowest tenth, shows how quiet the machine was. */
export function baseline(what, numbers, unit, note = '') {
  const spread = (quantile(numbers, 0.9) - quantile(numbers, 0.1)) / median(numbers);
  const notes = [note, numbers.length > 1 && `spread of rounds ${percent(spread)}`]
    .filter(Boolean)
    .join(', ');
  return { ...fact(what, median(numbers), unit, notes), spread };
}

/** What could not be measured. */
export function unmeasured(what, reason) {
  // Removes the path of the temporary folder, which is different in each run.
  const [first] = reason.replace(/\S+\/gateway-sim-bench-\w+\//g, '').split('\n');
  return { what, value: null, unit: '', note: `not measured: ${first}`, target: '', met: null };
}

export const percent = (share) => `${(share * 100).toFixed(1)} %`;

export const perSecond = (rate) => `${Math.round(rate).toLocaleString('en')}/s`;

export const ms = (value) => `${value.toFixed(value < 20 ? 1 : 0)} ms`;
