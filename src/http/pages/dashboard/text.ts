import { span } from '../../../contract/time.ts';

/** Makes a body readable: indents JSON, decodes a form to one field per line, and leaves other bodies unchanged. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    if (!/^[\w%.+*~[\]-]+=[^\s]*$/.test(body)) return body;
    return [...new URLSearchParams(body)].map(([name, value]) => `${name} = ${value}`).join('\n');
  }
}

/** Describes how far the clock is from real time, to the second if it is less than 1 h, otherwise to the minute. */
export function againstReal(ahead: number): string {
  const unit = Math.abs(ahead) < 3_600_000 ? 1_000 : 60_000;
  const distance = Math.round(Math.abs(ahead) / unit) * unit;
  if (distance === 0) return 'Clock shows real time';
  return `Clock is ${span(distance)} ${ahead > 0 ? 'ahead' : 'behind'}`;
}

/** Describes how long ago something happened, or how soon it will, in the largest unit. */
export function ago(milliseconds: number): string {
  if (Math.abs(milliseconds) < 1_000) return 'now';
  return milliseconds > 0 ? `${span(milliseconds, 1)} ago` : `in ${span(-milliseconds, 1)}`;
}

export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Maximum length of a text in a list (chosen), so that a page of fifty rows stays small. */
const LONGEST = 50;

/** Masks a text, and removes the middle if it is too long for a list. The record's page shows the whole text. */
export function clip(text: string, mask: (text: string) => string): string {
  const shown = mask(text);
  return shown.length > LONGEST ? `${shown.slice(0, LONGEST / 2)}…${shown.slice(-LONGEST / 2)}` : shown;
}
