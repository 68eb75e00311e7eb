import { lose, main, refreshNow } from './shown-page.ts';

/** After the last letter that was typed. */
const PAUSE_MS = 300;

let timer: number | undefined;

/** Forms that narrow the list below them do so at once, and the field that is typed in keeps the focus. */
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
  refreshNow().catch(lose);
}

document.addEventListener('input', ({ target }) => {
  const form = filterOf(target);
  if (!form) return;
  clearTimeout(timer);
  timer = setTimeout(() => apply(form), PAUSE_MS);
});
document.addEventListener('submit', (event) => {
  const form = filterOf(event.target);
  if (!form) return;
  event.preventDefault();
  apply(form);
});
