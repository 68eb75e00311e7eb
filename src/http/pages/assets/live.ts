/*
 * The one script of the dashboard. Pages are whole without it; it makes them live: events come from the server, the
 * page is fetched again at most twice a second, and what changed in it is changed in place. Elements with an id or a
 * data-key are the same ones before and after, so that focus, selection, scrolling, open details and what was typed
 * stay.
 */
import { span } from '../dashboard/text.ts';

const PAUSE_MS = 500;
const NEWS_MS = 4000;
const RETRY_MS = 5000;
const MAX_PRESS_MS = 1000;
const MAX_RESPONSE_MS = 15000;
const COPIED_MS = 1500;

function required(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element;
}

const main = required('content');
const live = required('live');
const news = required('news');
// A large page that never changes has a frame that does; what answers a form is at no address.
const isStill = main.hasAttribute('data-still');
let events: EventSource | undefined;
let timer: number | undefined;
let isFetching = false;
let pressedUntil = 0;
let sent = new WeakMap<HTMLFormElement, number>();

function show(connection: 'on' | 'off'): void {
  if (live.classList.contains(connection)) return;
  live.className = `live ${connection}`;
  live.textContent = live.dataset[connection] ?? '';
}

function refreshSoon(): void {
  if (timer === undefined) timer = setTimeout(refresh, PAUSE_MS);
}

async function refresh(): Promise<void> {
  timer = undefined;
  // A click is a press and a release on the same element: none is moved in between.
  if (isFetching || Date.now() < pressedUntil) return refreshSoon();
  isFetching = true;
  try {
    const response = await fetch(location.href, { headers: { 'X-Gateway-Sim-Live': '1' } });
    // The control token was replaced: the page asks for the new one.
    if (response.status === 401) return location.reload();
    // Its styles have another nonce: they would be refused, with an error in the console.
    const html = (await response.text()).replace(/<style[\s\S]*?<\/style>/g, '');
    const fresh = new DOMParser().parseFromString(html, 'text/html').getElementById('content');
    if (response.ok && fresh) morph(main, fresh);
  } catch {
    show('off');
  } finally {
    isFetching = false;
  }
}

const isElement = (node: Node): node is HTMLElement => node.nodeType === Node.ELEMENT_NODE;
/** What an element is found by again. */
const keyOf = (node: Node) => (isElement(node) ? node.id || node.dataset?.['key'] || '' : '');
const isKept = (node: Node) => isElement(node) && node.dataset?.['keep'] !== undefined;

/** Makes a node of the page like a fresh one, with as few changes as that takes. */
function morph(old: Node, fresh: Node): void {
  if (old.isEqualNode(fresh)) return;
  if (isElement(old) && isElement(fresh)) {
    morphAttributes(old, fresh);
    morphChildren(old, fresh);
  } else old.nodeValue = fresh.nodeValue;
}

function morphChildren(old: HTMLElement, fresh: HTMLElement): void {
  const wanted = new Set([...fresh.children].map(keyOf));
  for (const child of [...old.children])
    if (keyOf(child) && !wanted.has(keyOf(child)) && !isKept(child)) child.remove();
  const known = new Map<string, Node>([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let at: Node | null = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    while (at && isKept(at)) at = at.nextSibling;
    const key = keyOf(child);
    const same: Node | null | undefined = key ? known.get(key) : at && !keyOf(at) ? at : null;
    known.delete(key);
    if (!same || same.nodeName !== child.nodeName) {
      old.insertBefore(document.adoptNode(child), at);
      if (isElement(child)) showCopyButtons(child);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    morph(same, child);
  }
  while (at) {
    const next: Node | null = at.nextSibling;
    if (!isKept(at)) at.parentNode?.removeChild(at);
    at = next;
  }
}

/** What the reader made of an element stays. */
function isReaders(element: HTMLElement, name: string): boolean {
  if (name === 'value') return element instanceof HTMLInputElement && element.type !== 'hidden';
  if (name === 'selected') return element.nodeName === 'OPTION';
  if (name === 'open') return element.nodeName === 'DETAILS';
  return name === 'hidden' && element.dataset['copy'] !== undefined;
}

function morphAttributes(old: HTMLElement, fresh: HTMLElement): void {
  for (const { name, value } of [...fresh.attributes])
    if (old.getAttribute(name) !== value && !isReaders(old, name)) old.setAttribute(name, value);
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !isReaders(old, name)) old.removeAttribute(name);
}

function showCopyButtons(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLElement>('[data-copy]'))
    button.hidden = !navigator.clipboard;
}

let newsTimer: number | undefined;
let lastNewsAt = 0;
let unreported = 0;
let last: MessageEvent<string> | undefined;

/** Tells screen readers what happened: the last event and how many there were, at intervals. */
function onEvent(event: MessageEvent<string>): void {
  if (event.lastEventId) live.dataset['since'] = event.lastEventId;
  if (!isStill || (event.type === 'notice' && !main.dataset['page'])) refreshSoon();
  if (event.type === 'request') return;
  unreported++;
  last = event;
  if (newsTimer === undefined)
    newsTimer = setTimeout(report, Math.max(PAUSE_MS, lastNewsAt + NEWS_MS - Date.now()));
}

function report(): void {
  newsTimer = undefined;
  if (!last) return;
  const what = describeEvent(last.type, JSON.parse(last.data) as EventData);
  news.textContent = unreported > 1 ? `${unreported} changes, the last: ${what}` : what;
  lastNewsAt = Date.now();
  unreported = 0;
}

type EventRecord = { identifier: string; status?: string; state?: string };
type AuditProgress = { state: string; done: number; of: number };
type EventData = Partial<Record<'payment' | 'delivery' | 'message', EventRecord>> & {
  audit?: AuditProgress;
  text?: string;
};

function describeEvent(type: string, { payment, delivery, message, audit, text }: EventData): string {
  if (type === 'payment') return `Payment ${payment?.identifier} ${payment?.status}`;
  if (type === 'delivery') return `IPN of ${delivery?.identifier} ${delivery?.state}`;
  if (type === 'message') return `Code for ${message?.identifier}`;
  if (audit) return `Audit ${audit.state}: ${audit.done} of ${audit.of}`;
  return text ?? 'Card transaction';
}

function connect(): void {
  if (events || document.hidden) return;
  const source = new EventSource(`/_sim/events?since=${live.dataset['since']}`);
  events = source;
  source.onopen = () => {
    if (live.classList.contains('off')) refreshSoon();
    show('on');
  };
  source.onerror = () => {
    show('off');
    if (source.readyState !== EventSource.CLOSED) return;
    // The browser gives up after a response that refuses; a proxy in between may recover.
    events = undefined;
    setTimeout(connect, RETRY_MS);
    refreshSoon();
  };
  for (const type of ['request', 'payment', 'delivery', 'message', 'cardTransaction', 'audit', 'notice'])
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

// A browser has few connections for one address: a hidden tab gives up its own.
document.addEventListener('visibilitychange', () => (document.hidden ? disconnect() : resume()));
addEventListener('pagehide', disconnect);
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  sent = new WeakMap();
  resume();
});
addEventListener('pointerdown', () => {
  pressedUntil = Date.now() + MAX_PRESS_MS;
});
addEventListener('pointerup', () => {
  pressedUntil = 0;
});

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

// One press acts once, however long its response takes; who stopped waiting may press again.
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement)) return;
  const question = form.dataset['confirm'];
  const isSent = Date.now() - (sent.get(form) ?? 0) < MAX_RESPONSE_MS;
  if (isSent || (question && !confirm(question))) return event.preventDefault();
  if (form.method === 'post') sent.set(form, Date.now());
});

setInterval(() => {
  for (const time of main.querySelectorAll<HTMLTimeElement>('time[data-runs]')) {
    time.dateTime = new Date(Date.parse(time.dateTime) + 1000).toISOString();
    time.textContent = time.dateTime.slice(0, 19).replace('T', ' ');
  }
  for (const left of main.querySelectorAll<HTMLElement>('[data-left]')) {
    const seconds = Math.max(0, Number(left.dataset['left']) - 1);
    left.dataset['left'] = String(seconds);
    left.textContent = span(seconds * 1000);
  }
}, 1000);

// On a small screen the tabs scroll sideways: the one that is open is in sight.
const tab = document.querySelector<HTMLElement>('.tabs [aria-current]');
const tabs = tab?.closest('ul');
if (tab && tabs) tabs.scrollLeft = tab.offsetLeft - 60;

// After a form was refused the address is that of its action: reloading must not send it again.
if (main.dataset['page']) history.replaceState(null, '', main.dataset['page']);
showCopyButtons(document);
connect();
