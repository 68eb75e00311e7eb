import { span } from '../../../contract/duration.ts';

/** A body for reading: JSON indented, a form one decoded field a line, anything else as it is. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), undefined, 2);
  } catch {
    if (!/^[\w%.+*~[\]-]+=[^\s]*$/.test(body)) return body;
    return [...new URLSearchParams(body)].map(([name, value]) => `${name} = ${value}`).join('\n');
  }
}

/** How far the clock is from real time, to the second; to the minute where it is far. */
export function againstReal(ahead: number): string {
  const unit = Math.abs(ahead) < 3_600_000 ? 1_000 : 60_000;
  const distance = Math.round(Math.abs(ahead) / unit) * unit;
  if (distance === 0) return 'Clock is at real time';
  return `Clock is ${span(distance)} ${ahead > 0 ? 'ahead' : 'behind'}`;
}

/** How long ago something was, or how soon it is, in its largest unit. */
export function ago(milliseconds: number): string {
  if (Math.abs(milliseconds) < 1_000) return 'now';
  return milliseconds > 0 ? `${span(milliseconds, 1)} ago` : `in ${span(-milliseconds, 1)}`;
}

/** An instant for reading, to the second; the zone is UTC. */
export function instant(at: string): string {
  return at.slice(0, 19).replace('T', ' ');
}

/** A count with its thousands set apart. */
export function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

export function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Maximum characters of one text in a list (chosen): fifty rows must stay a light page. */
const LONGEST = 50;

/** A text without its middle where it is too long for a list; the page of its record has all of it. */
export function clip(text: string, longest = LONGEST): string {
  return text.length > longest ? `${text.slice(0, longest / 2)}…${text.slice(-longest / 2)}` : text;
}
