/* The dashboard's only script, which updates open pages and sends forms. Pages work without it. */
import { Idiomorph } from 'idiomorph';
import { ago } from '../dashboard/text.ts';

const PAUSE_MS = 500;
const RETRY_MS = 5000;
const COPIED_MS = 1500;
/** If sending fails within this time, the form never reached the emulator. Later, it may have been processed. */
const REFUSED_MS = 2000;

const main = document.getElementById('content') as HTMLElement;
const live = document.getElementById('live') as HTMLElement;

/** Whether an attribute is the user's or the script's. The fetched page does not know it. */
function isOwn(name: string, element: Element): boolean {
  switch (name) {
    case 'open':
      return element.nodeName === 'DETAILS';
    case 'checked':
    case 'selected':
    case 'aria-busy':
      return true;
    case 'value':
      return 'defaultValue' in element && 'value' in element && element.value !== element.defaultValue;
    default:
      return false;
  }
}

/** Updates the page to match a fetched one, and preserves focus, scrolling, open details and typed text. */
function show(content: HTMLElement): void {
  const focused = document.activeElement;
  Idiomorph.morph(main, content, {
    callbacks: {
      beforeAttributeUpdated: (name, element, how) =>
        !isOwn(name, element) &&
        // The fetched page has no problems of a rejected form.
        !(how === 'remove' && element.ariaInvalid === 'true' && name.startsWith('aria-')),
      beforeNodeRemoved: (node) => !(node instanceof HTMLElement && 'keep' in node.dataset),
      afterNodeAdded: (node) => {
        if (node instanceof HTMLTableRowElement) node.classList.add('new');
      },
    },
  });
  // The focused element may have been removed.
  if (document.activeElement === document.body && focused !== document.body)
    main.focus({ preventScroll: true });
}

/**
 * Sends a request to the emulator.
 *
 * @returns the response, its text, and the content of its page; null if it is not a dashboard page
 * @throws TypeError if the emulator does not respond
 */
async function load(address: string, init: RequestInit = {}) {
  const response = await fetch(address, { ...init, headers: { 'X-Gateway-Sim-Live': '1' } });
  if (response.status === 401) {
    // The control token was replaced: after a reload the page asks for the new one.
    location.reload();
    return new Promise<never>(() => {});
  }
  const text = await response.text();
  const content = new DOMParser().parseFromString(text, 'text/html').getElementById('content');
  return { response, text, content };
}

/** The number of the latest request for the page. Responses to earlier requests are not shown. */
let newest = 0;
let timer: number | undefined;

async function refresh(): Promise<void> {
  const number = ++newest;
  const { response, content } = await load(location.href);
  if (number === newest && response.ok && content) show(content);
}

/** Refreshes the page soon, at most twice a second. */
function refreshSoon(): void {
  // The result of a form that was pasted into is not at this address.
  if ('still' in main.dataset) return;
  if (timer !== undefined) return;
  timer = setTimeout(() => {
    timer = undefined;
    // Without a response, the page is refreshed after the reconnect.
    refresh().catch(() => {});
  }, PAUSE_MS);
}

const EVENTS = ['request', 'payment', 'delivery', 'message', 'cardTransaction', 'notice'];
let events: EventSource | undefined;

function showConnection(connection: 'on' | 'off'): void {
  if (live.classList.contains(connection)) return;
  live.className = `live ${connection}`;
  live.textContent = live.dataset[connection] ?? '';
}

function connect(): void {
  if (events || document.hidden) return;
  const source = new EventSource(`${live.dataset['events']}?since=${live.dataset['since']}`);
  events = source;
  source.onopen = () => {
    // The emulator may have been restarted, so no event tells what the page missed.
    if (live.classList.contains('off')) refreshSoon();
    showConnection('on');
  };
  source.onerror = () => {
    showConnection('off');
    if (source.readyState !== EventSource.CLOSED) return;
    // The browser does not reconnect after an error status, but the proxy that sent it may recover.
    events = undefined;
    setTimeout(connect, RETRY_MS);
    refreshSoon();
  };
  for (const type of EVENTS) {
    source.addEventListener(type, ({ lastEventId }) => {
      if (lastEventId) live.dataset['since'] = lastEventId;
      refreshSoon();
    });
  }
}

function disconnect(): void {
  events?.close();
  events = undefined;
}

function resume(): void {
  connect();
  refreshSoon();
}

// Browsers limit the number of connections to a host, so a hidden tab closes its own.
document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : resume()));
addEventListener('pagehide', disconnect);
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  for (const button of main.querySelectorAll('[aria-busy]')) button.ariaBusy = null;
  resume();
});
connect();

// Sends forms without leaving the page. A form is sent once, however long the response takes.
document.addEventListener('submit', (event) => {
  const { target: form, submitter } = event;
  if (!(form instanceof HTMLFormElement) || form.getAttribute('method') !== 'post') return;
  event.preventDefault();
  const question = form.dataset['confirm'];
  if (form.querySelector('[aria-busy]') || (question && !confirm(question))) return;
  if (submitter instanceof HTMLButtonElement) void send(form, submitter);
});

async function send(form: HTMLFormElement, button: HTMLButtonElement): Promise<void> {
  const fields = new FormData(form, button);
  const body = new URLSearchParams([...fields].map(([name, value]) => [name, String(value)]));
  const startedAt = Date.now();
  button.ariaBusy = 'true';
  try {
    const { response, text, content } = await load(form.getAttribute('action') ?? '', {
      method: 'POST',
      body,
    });
    const target = response.headers.get('Location');
    if (target !== null && !isHere(target)) {
      // The button stays busy until the other page has loaded.
      location.assign(target);
      return;
    }
    clearProblems();
    if (target !== null) {
      form.reset();
      await refresh().catch(refreshSoon);
    } else if (content) showRejected(content);
    else showMessage(form, messageIn(text));
  } catch {
    const name = `“${(button.textContent ?? '').trim()}”`;
    const isUnsent = Date.now() - startedAt < REFUSED_MS;
    showMessage(
      form,
      isUnsent
        ? `${name} was not sent: the emulator did not respond.`
        : `${name} got no response. It may have been processed.`,
    );
  }
  button.ariaBusy = null;
}

/** Whether a URL points to this page, or to a part of it. */
function isHere(target: string): boolean {
  const { pathname, search } = new URL(target, location.href);
  return pathname === location.pathname && search === location.search;
}

/** Removes problems, which a refresh preserves. */
function clearProblems(): void {
  for (const element of main.querySelectorAll('[data-keep]')) element.remove();
  for (const field of main.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-describedby');
  }
}

function showRejected(content: HTMLElement): void {
  // Pages that were requested before it do not have it.
  newest++;
  show(content);
  const wrong = main.querySelector<HTMLElement>('[aria-invalid=true]');
  if (wrong) wrong.focus();
  else main.querySelector('[role=alert]')?.scrollIntoView({ block: 'nearest' });
}

/** Returns the message in a response that is not a page: an error from the control API. */
function messageIn(text: string): string {
  try {
    const { message } = JSON.parse(text) as { message?: string };
    return message ?? text;
  } catch {
    return 'The emulator failed.';
  }
}

function showMessage(form: HTMLFormElement, text: string): void {
  clearProblems();
  const box = document.createElement('p');
  box.id = 'problem';
  box.className = 'box alert';
  box.role = 'alert';
  box.dataset['keep'] = '';
  box.textContent = text;
  if (form.isConnected) form.after(box);
  else main.prepend(box);
}

// Copy buttons, which the style sheet shows only if the browser allows copying.
if (navigator.clipboard) document.documentElement.classList.add('copies');
document.addEventListener('click', async ({ target }) => {
  const button = target instanceof Element && target.closest<HTMLElement>('[data-copy]');
  if (!button) return;
  const source = document.getElementById(button.dataset['copy'] ?? '');
  await navigator.clipboard.writeText(source?.textContent ?? '');
  const label = button.firstChild as Text;
  label.data = 'Copied ';
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

/** Updates ages once a second. They stay while the emulator's clock is paused. */
setInterval(() => {
  const { now = '', frozen } = main.dataset;
  if (now !== renderedAt) {
    renderedAt = now;
    shownAt = Date.now();
  }
  const at = Date.parse(now) + (frozen === undefined ? Date.now() - shownAt : 0);
  for (const time of main.querySelectorAll<HTMLTimeElement>('time[data-ago]')) {
    const words = ago(at - Date.parse(time.dateTime));
    // Writing the same text again would clear the user's selection.
    if (time.textContent !== words) time.textContent = words;
  }
}, 1000);
