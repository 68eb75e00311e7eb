import { main, refreshNow, reportDisconnected } from './shown-page.ts';

/** How long to wait after the last keystroke. */
const PAUSE_MS = 300;

let timer: number | undefined;

/** Returns the form that filters the list below it. It applies while the user types, and its field keeps the focus. */
function filterOf(target: EventTarget | null): HTMLFormElement | null {
  const form = target instanceof Element ? target.closest<HTMLFormElement>('search form') : null;
  return main.contains(form) ? form : null;
}

function apply(form: HTMLFormElement): void {
  clearTimeout(timer);
  const given = [...new FormData(form)].map(([name, value]) => [name, String(value)]);
  const query = new URLSearchParams(given.filter(([, value]) => value));
  const path = form.getAttribute('action') ?? location.pathname;
  history.replaceState(null, '', String(query) ? `${path}?${query}` : path);
  refreshNow().catch(reportDisconnected);
}

document.addEventListener('input', ({ target }) => {
  const form = filterOf(target);
  if (!form) return;
  clearTimeout(timer);
  timer = setTimeout(() => apply(form), PAUSE_MS);
});
document.addEventListener('change', ({ target }) => {
  if (!(target instanceof HTMLInputElement) || target.dataset['all'] === undefined) return;
  for (const field of target.form?.elements ?? [])
    if (field instanceof HTMLInputElement) field.checked = target.checked;
});
document.addEventListener('submit', (event) => {
  const form = filterOf(event.target);
  if (!form) return;
  event.preventDefault();
  apply(form);
});
