import { span } from '../../../contract/duration.ts';
import { ago, instant } from '../dashboard/text.ts';
import { main } from './shown-page.ts';

/** The emulator's time when it rendered the page, and the browser's time when it showed it. */
let shown = '';
let shownAt = 0;

/** Returns the emulator's time in milliseconds since 1970, which does not advance while the clock is paused. */
function now(): number {
  const { now: read = '', frozen } = main.dataset;
  if (read !== shown) {
    shown = read;
    shownAt = Date.now();
  }
  return Date.parse(read) + (frozen === undefined ? Date.now() - shownAt : 0);
}

/** Updates times once a second. */
setInterval(() => {
  for (const time of main.querySelectorAll<HTMLTimeElement>('time[data-runs]')) {
    time.dateTime = new Date(Date.parse(time.dateTime) + 1000).toISOString();
    time.textContent = instant(time.dateTime);
  }
  for (const left of main.querySelectorAll<HTMLElement>('[data-left]')) {
    const seconds = Math.max(0, Number(left.dataset['left']) - 1);
    left.dataset['left'] = String(seconds);
    left.textContent = span(seconds * 1000);
  }
  const at = now();
  if (Number.isNaN(at)) return;
  for (const time of main.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    const words = ago(at - Date.parse(time.dateTime));
    // Writing the same text again would clear the user's selection.
    if (time.textContent !== words) time.textContent = words;
  }
}, 1000);
