import { main } from './shown-page.ts';

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
  '?': () => toggle('#shortcuts'),
};

/** Opens or closes a dialog. The browser handles Escape. */
function toggle(name: string): boolean {
  const dialog = document.querySelector<HTMLDialogElement>(name);
  if (dialog?.open) dialog.close();
  else dialog?.showModal();
  return dialog !== null;
}

document.addEventListener('input', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset['palette'] === undefined) return;
  const words = target.value.trim().toLowerCase();
  for (const item of document.querySelectorAll<HTMLElement>('#palette li'))
    item.hidden = !item.textContent?.toLowerCase().includes(words);
});

document.addEventListener('submit', (event) => {
  const first = document.querySelector<HTMLElement>('#palette li:not([hidden]) :is(a, button)');
  if (!(event.target instanceof Element) || !event.target.matches('#palette > form') || !first) return;
  event.preventDefault();
  first.click();
});

/** Focuses the link of the next or previous row, so that Enter opens it. */
function moveTo(step: 1 | -1): boolean {
  const links = [...main.querySelectorAll('tbody tr')].flatMap((row) => {
    const link = row.querySelector<HTMLElement>('a[href]');
    return link ? [{ row, link }] : [];
  });
  const at = links.findIndex(({ row }) => row.contains(document.activeElement));
  const next = at < 0 ? links[0] : links[at + step];
  next?.link.focus();
  return next !== undefined;
}

document.addEventListener('keydown', (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if ((ctrlKey || metaKey) && key === 'k' && toggle('#palette')) event.preventDefault();
  if (ctrlKey || metaKey || altKey || event.isComposing) return;
  if (target instanceof Element && target.closest('input, select, textarea, [contenteditable]')) return;
  if (Object.hasOwn(KEYS, key) && KEYS[key]?.()) event.preventDefault();
});
