import type { SimEvent } from '../../../contract/event.ts';
import { keyOf, morph, NEW_ROW } from './morph.ts';

/*
 * Keeps the page up to date: after events from the server it fetches the page again, at most twice a second, and
 * updates the changed elements in place.
 */

const PAUSE_MS = 500;
const MAX_PRESS_MS = 1000;

function required(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

export const main = required('content');
export const live = required('live');
export const news = required('news');

let isConnected = false;

function showConnection(connection: 'on' | 'off'): void {
  if (live.classList.contains(connection)) return;
  live.className = `live ${connection}`;
  live.textContent = live.dataset[connection] ?? '';
  if (connection === 'on') for (const lost of main.querySelectorAll('.lost')) lost.remove();
}

/** Shows whether the event stream is open. After a reconnect, fetches the page again, because events were missed. */
function setConnected(isOn: boolean): void {
  if (isOn && live.classList.contains('off')) refreshSoon();
  isConnected = isOn;
  showConnection(isOn ? 'on' : 'off');
}

/** Shows "disconnected" until the next response arrives. */
export function reportDisconnected(): void {
  showConnection('off');
  refreshSoon();
}

/**
 * Sends a request to the emulator.
 *
 * @returns the response, its text, and the content of its page; null if it is not a dashboard page
 * @throws TypeError if the emulator does not respond
 */
export async function load(address: string, init: RequestInit = {}) {
  const response = await fetch(address, { ...init, headers: { 'X-Gateway-Sim-Live': '1' } });
  if (response.status === 401) {
    // The control token was replaced: after a reload the page asks for the new one.
    location.reload();
    return new Promise<never>(() => {});
  }
  const text = await response.text();
  return {
    response,
    text,
    content: new DOMParser().parseFromString(text, 'text/html').getElementById('content'),
  };
}

let shownAddress = location.href;

/** Updates the page to match the emulator's response. @param sent the processed forms */
function show(content: HTMLElement, sent: readonly HTMLFormElement[]): void {
  // Rows are new only if the list is still the same.
  const flashes = shownAddress === location.href;
  shownAddress = location.href;
  if (flashes) holdRows(content);
  isReleased = false;
  const onInsert = (element: HTMLElement) => {
    if (flashes && element.matches('tbody > tr')) element.classList.add(NEW_ROW);
  };
  const focused = document.activeElement;
  morph(main, content, { onInsert, sent });
  for (const form of sent) form.reset();
  // The focused element may have been removed.
  if (document.activeElement === document.body && focused !== document.body)
    main.focus({ preventScroll: true });
}

/** Selects a list that contains the pointer or the focus, so its rows must not move. */
const USED = '.list[id]:is(:hover, :focus-within)';

/** Whether the user asked for the waiting rows, which the next update shows. */
let isReleased = false;

/** Keeps the rows of a list in place while it is in use. New rows wait until the user clicks a button. */
function holdRows(content: HTMLElement): void {
  const list = main.querySelector<HTMLElement>(USED);
  const fresh = list && content.querySelector(`#${list.id} tbody`);
  if (!fresh || isReleased) return;
  const rows = new Map([...fresh.children].map((row) => [keyOf(row), row]));
  const kept = [...list.querySelectorAll('tbody > tr')].map((row) => [keyOf(row), row] as const);
  fresh.replaceChildren(...kept.map(([key, row]) => rows.get(key) ?? row.cloneNode(true)));
  for (const [key] of kept) rows.delete(key);
  if (rows.size === 0) return;
  const button = document.createElement('button');
  button.className = 'held';
  button.textContent = `${rows.size} new`;
  fresh.closest('.list')?.append(button);
}

/** Shows the waiting rows once the list is no longer in use, or on request. */
function releaseRows({ type, target }: Event): void {
  const waiting = main.querySelector('.held');
  if (!waiting) return;
  isReleased = type === 'click' && target === waiting;
  if (!isReleased && main.querySelector(USED)) return;
  refreshNow().catch(reportDisconnected);
}
for (const type of ['click', 'pointerout', 'focusout']) document.addEventListener(type, releaseRows);

/** A processed form, and the function that ends its busy state. */
interface Sent {
  form: HTMLFormElement;
  stopWaiting: () => void;
}

/** Processed forms whose result is not shown yet. */
const unshown = new Set<Sent>();
/** The latest request for the page, and whether its response was shown. Earlier responses are not. */
let newest: Promise<boolean> | undefined;

/** Shows the response to a rejected form. Pages that were requested before it are not shown. */
export function showRejected(content: HTMLElement): void {
  newest = undefined;
  show(content, []);
}

/**
 * Fetches the page at the current address and shows it.
 *
 * @param sent the form that caused the refresh
 * @returns whether this page or a later one was shown
 */
export function refreshNow(sent?: Sent): Promise<boolean> {
  if (sent) unshown.add(sent);
  const isShown: Promise<boolean> = load(location.href).then(({ response, content }) => {
    if (isConnected) showConnection('on');
    if (newest !== isShown) return newest ?? false;
    if (!response.ok || !content) return false;
    for (const { stopWaiting } of unshown) stopWaiting();
    show(
      content,
      [...unshown].map(({ form }) => form),
    );
    return true;
  });
  newest = isShown;
  return sent ? isShown.finally(() => unshown.delete(sent)) : isShown;
}

let timer: number | undefined;
let isFetching = false;
let pressedUntil = 0;

/** Refreshes the page soon, at most twice a second. */
export function refreshSoon(): void {
  if (timer === undefined) timer = setTimeout(refresh, PAUSE_MS);
}

async function refresh(): Promise<void> {
  timer = undefined;
  // This page is the response to a form, so it cannot be fetched again.
  if (main.hasAttribute('data-still') && main.dataset['page']) return;
  // A click is a press and a release on the same element, so nothing may move in between.
  if (isFetching || Date.now() < pressedUntil) return refreshSoon();
  isFetching = true;
  try {
    await refreshNow();
  } catch {
    showConnection('off');
  } finally {
    isFetching = false;
  }
}

addEventListener('pointerdown', () => {
  pressedUntil = Date.now() + MAX_PRESS_MS;
});
addEventListener('pointerup', () => {
  pressedUntil = 0;
});
document.addEventListener('animationend', ({ target }) => {
  if (target instanceof Element) target.classList.remove(NEW_ROW);
});

const NEWS_MS = 4000;
const RETRY_MS = 5000;

// Events do not change the content of this page, only the frame around it, which `notice` events update.
const isStill = main.hasAttribute('data-still');
let events: EventSource | undefined;
let newsTimer: number | undefined;
let lastNewsAt = 0;
let unreported = 0;
let last: MessageEvent<string> | undefined;

/** Announces the last event and the number of events to screen readers, at intervals. */
function onEvent(event: MessageEvent<string>): void {
  if (event.lastEventId) live.dataset['since'] = event.lastEventId;
  if (!isStill || event.type === 'notice') refreshSoon();
  if (event.type === 'request') return;
  unreported++;
  last = event;
  if (newsTimer === undefined)
    newsTimer = setTimeout(report, Math.max(PAUSE_MS, lastNewsAt + NEWS_MS - Date.now()));
}

function report(): void {
  newsTimer = undefined;
  if (!last) return;
  const what = describeEvent(JSON.parse(last.data) as SimEvent);
  news.textContent = unreported > 1 ? `${unreported} changes, latest: ${what}` : what;
  lastNewsAt = Date.now();
  unreported = 0;
}

function describeEvent(event: SimEvent): string {
  switch (event.type) {
    case 'payment':
      return `Payment ${event.payment.identifier} ${event.payment.status}`;
    case 'delivery':
      return `IPN of ${event.delivery.identifier} ${event.delivery.state}`;
    case 'message':
      return `Code for ${event.message.identifier}`;
    case 'notice':
      return event.text;
    case 'cardTransaction':
      return 'Card transaction';
    case 'request':
      return '';
  }
}

function connect(): void {
  if (events || document.hidden) return;
  const source = new EventSource(`${live.dataset['events']}?since=${live.dataset['since']}`);
  events = source;
  source.onopen = () => setConnected(true);
  source.onerror = () => {
    setConnected(false);
    if (source.readyState !== EventSource.CLOSED) return;
    // The browser does not reconnect after an error status, but the proxy that sent it may recover.
    events = undefined;
    setTimeout(connect, RETRY_MS);
    refreshSoon();
  };
  for (const type of ['request', 'payment', 'delivery', 'message', 'cardTransaction', 'notice'])
    source.addEventListener(type, onEvent);
}

function disconnect(): void {
  events?.close();
  events = undefined;
}

function resume(): void {
  connect();
  if (!isStill) refreshSoon();
}

// Browsers limit the number of connections to a host, so a hidden tab closes its own.
document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : resume()));
addEventListener('pagehide', disconnect);
addEventListener('pageshow', ({ persisted }) => {
  if (persisted) resume();
});
connect();
