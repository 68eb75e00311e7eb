/*
 * The dashboard's only script. Pages work without it. It keeps them up to date (refresh.ts) and sends forms
 * (submit.ts). Here are its smaller parts.
 */
import { moment, span } from '../../../contract/time.ts';
import { ago } from '../dashboard/text.ts';
import { main, news } from './refresh.ts';
import './submit.ts';

// After a rejected form, the URL is the form's action. A reload must not submit the form again.
if (main.dataset['page']) history.replaceState(null, '', main.dataset['page']);

// Copy buttons, which the style sheet shows only if the browser allows copying.
const COPIED_MS = 1500;
if (navigator.clipboard) document.documentElement.classList.add('copies');
document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element && target.closest<HTMLElement>('[data-copy]');
  if (!button) return;
  const source = document.getElementById(button.dataset['copy'] ?? '');
  await navigator.clipboard.writeText(source?.textContent ?? '');
  const label = button.firstChild as Text;
  label.data = 'Copied ';
  news.textContent = 'Copied';
  setTimeout(() => label.replaceData(0, label.length, 'Copy '), COPIED_MS);
});

// Code samples: every page shows the language that the user chose last.
const KEY = 'language';
function showLanguage(language: string | null): void {
  for (const choice of document.querySelectorAll<HTMLInputElement>('.languages input'))
    choice.checked ||= choice.value === language;
}
showLanguage(localStorage.getItem(KEY));
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || !target.closest('.languages')) return;
  localStorage.setItem(KEY, target.value);
  showLanguage(target.value);
});

/** The emulator's time when it rendered the page, and the browser's time when it showed it. */
let renderedAt = '';
let shownAt = 0;

/** Returns the emulator's time in milliseconds since 1970, which does not advance while the clock is paused. */
function now(): number {
  const { now: read = '', frozen } = main.dataset;
  if (read !== renderedAt) {
    renderedAt = read;
    shownAt = Date.now();
  }
  return Date.parse(read) + (frozen === undefined ? Date.now() - shownAt : 0);
}

/** Updates times once a second. */
setInterval(() => {
  for (const time of main.querySelectorAll<HTMLTimeElement>('time[data-runs]')) {
    time.dateTime = new Date(Date.parse(time.dateTime) + 1000).toISOString();
    time.textContent = moment(time.dateTime);
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

// "Select all".
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset['all'] === undefined) return;
  for (const field of target.form?.elements ?? [])
    if (field instanceof HTMLInputElement) field.checked = target.checked;
});

/** Shortcuts that work anywhere except in fields. */
const KEYS: Readonly<Record<string, () => boolean>> = {
  '/': () => {
    const search = document.querySelector<HTMLInputElement>('[data-search]');
    search?.focus();
    search?.select();
    return search !== null;
  },
  j: () => moveTo(1),
  k: () => moveTo(-1),
  '?': toggleShortcuts,
};

function toggleShortcuts(): boolean {
  const dialog = document.querySelector<HTMLDialogElement>('#shortcuts');
  if (dialog?.open) dialog.close();
  else dialog?.showModal();
  return dialog !== null;
}

/** Focuses the link of the next or previous row, so that Enter opens it. */
function moveTo(step: 1 | -1): boolean {
  const links = [...main.querySelectorAll<HTMLElement>('tbody tr')].flatMap(
    (row) => row.querySelector<HTMLElement>('a[href]') ?? [],
  );
  const at = links.findIndex((link) => link.closest('tr')?.contains(document.activeElement));
  const next = at < 0 ? links[0] : links[at + step];
  next?.focus();
  return next !== undefined;
}

document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (ctrlKey || metaKey || altKey || event.isComposing) return;
  if (target instanceof Element && target.closest('input, select, textarea, [contenteditable]')) return;
  if (Object.hasOwn(KEYS, key) && KEYS[key]?.()) event.preventDefault();
});
