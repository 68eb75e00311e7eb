/*
 * The one script of the dashboard, served as it stands. Pages are whole without it; it makes them live: what happens
 * comes as server-sent events, the page is fetched again at most twice a second, and what changed in it is changed in
 * place. Elements with an id or a data-key are the same ones before and after, so that focus, selection, scrolling,
 * open details and what was typed stay.
 */
export const LIVE_SCRIPT = String.raw`'use strict';
const PAUSE_MS = 500, NEWS_MS = 4000, RETRY_MS = 5000, LONGEST_PRESS_MS = 1000, LONGEST_ANSWER_MS = 15000;
const main = document.getElementById('content');
const live = document.getElementById('live');
const news = document.getElementById('news');
// A large page that never changes has a frame that does.
const still = main.hasAttribute('data-still');
let events, timer, fetching = false, pressedUntil = 0, sent = new WeakMap();

function say(on) {
  if (live.classList.contains(on ? 'on' : 'off')) return;
  live.className = 'live ' + (on ? 'on' : 'off');
  live.textContent = on ? live.dataset.on : live.dataset.off;
}

function soon() {
  timer ??= setTimeout(refresh, PAUSE_MS);
}

async function refresh() {
  timer = undefined;
  // A click is a press and a release on the same element: none is moved in between.
  if (fetching || Date.now() < pressedUntil) return soon();
  fetching = true;
  try {
    const answer = await fetch(location.href, { headers: { 'X-Gateway-Sim-Live': '1' } });
    // The control token is another one since: the page asks for it.
    if (answer.status === 401) return location.reload();
    // Its styles have another nonce: they would be refused, with an error in the console.
    const html = (await answer.text()).replace(/<style[^]*?<\/style>/g, '');
    const fresh = new DOMParser().parseFromString(html, 'text/html').getElementById('content');
    if (answer.ok && fresh) morph(main, fresh);
  } catch {
    say(false);
  } finally {
    fetching = false;
  }
}

const keyOf = (node) => node.id || node.dataset?.key || '';
const stays = (node) => node?.dataset?.keep !== undefined;

/** Makes an element of the page like a fresh one, with as few changes as that takes. */
function morph(old, fresh) {
  if (old.isEqualNode(fresh)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.nodeValue = fresh.nodeValue;
    return;
  }
  morphAttributes(old, fresh);
  const wanted = new Set([...fresh.children].map(keyOf));
  for (const child of [...old.children])
    if (keyOf(child) && !wanted.has(keyOf(child)) && !stays(child)) child.remove();
  const known = new Map([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let at = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    while (stays(at)) at = at.nextSibling;
    const same = keyOf(child) ? known.get(keyOf(child)) : at && !keyOf(at) ? at : undefined;
    known.delete(keyOf(child));
    if (same?.nodeName !== child.nodeName) {
      old.insertBefore(document.adoptNode(child), at);
      if (child.nodeType === Node.ELEMENT_NODE) prepare(child);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    morph(same, child);
  }
  while (at) {
    const next = at.nextSibling;
    if (!stays(at)) at.remove();
    at = next;
  }
}

/** What the reader made of an element is not taken back. */
function isReaders(element, name) {
  if (name === 'value') return element.nodeName === 'INPUT' && element.type !== 'hidden';
  if (name === 'selected') return element.nodeName === 'OPTION';
  if (name === 'open') return element.nodeName === 'DETAILS';
  return name === 'hidden' && element.dataset.copy !== undefined;
}

function morphAttributes(old, fresh) {
  for (const { name, value } of [...fresh.attributes])
    if (old.getAttribute(name) !== value && !isReaders(old, name)) old.setAttribute(name, value);
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !isReaders(old, name)) old.removeAttribute(name);
}

function prepare(root) {
  for (const button of root.querySelectorAll('[data-copy]')) button.hidden = !navigator.clipboard;
}

let newsTimer, lastTold = 0, untold = 0, last;

/** Says what happened to those who do not see it: the last thing, and how many there were, now and then. */
function hear(event) {
  if (event.lastEventId) live.dataset.since = event.lastEventId;
  if (!still || event.type === 'notice') soon();
  if (event.type === 'request') return;
  untold++;
  last = event;
  newsTimer ??= setTimeout(tell, Math.max(PAUSE_MS, lastTold + NEWS_MS - Date.now()));
}

function tell() {
  const what = inWords(last.type, JSON.parse(last.data));
  news.textContent = untold > 1 ? untold + ' changes, the last: ' + what : what;
  newsTimer = undefined;
  lastTold = Date.now();
  untold = 0;
}

function inWords(type, { payment, delivery, message, text }) {
  if (type === 'payment') return 'Payment ' + payment.identifier + ' ' + payment.status;
  if (type === 'delivery') return 'IPN of ' + delivery.identifier + ' ' + delivery.state;
  if (type === 'message') return 'Code for ' + message.identifier;
  return text ?? 'Card transaction';
}

function connect() {
  if (events || document.hidden) return;
  events = new EventSource('/_sim/events?since=' + live.dataset.since);
  events.onopen = () => {
    if (live.classList.contains('off')) soon();
    say(true);
  };
  events.onerror = () => {
    say(false);
    if (events.readyState !== EventSource.CLOSED) return;
    // It gives up when it was answered and refused; whoever is between may come to its senses.
    events = undefined;
    setTimeout(connect, RETRY_MS);
    soon();
  };
  for (const type of ['request', 'payment', 'delivery', 'message', 'cardTransaction', 'notice'])
    events.addEventListener(type, hear);
}

function disconnect() {
  events?.close();
  events = undefined;
}

// A browser has few connections for one address: a tab that nobody looks at gives its own back.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) return disconnect();
  connect();
  if (!still) soon();
});
addEventListener('pagehide', disconnect);
addEventListener('pageshow', ({ persisted }) => {
  if (!persisted) return;
  sent = new WeakMap();
  connect();
  if (!still) soon();
});
addEventListener('pointerdown', () => { pressedUntil = Date.now() + LONGEST_PRESS_MS; });
addEventListener('pointerup', () => { pressedUntil = 0; });

document.addEventListener('click', async ({ target }) => {
  const button = target.closest('[data-copy]');
  if (!button) return;
  await navigator.clipboard.writeText(document.getElementById(button.dataset.copy)?.textContent ?? '');
  const label = button.firstChild;
  label.nodeValue = 'Copied ';
  news.textContent = 'Copied';
  setTimeout(() => { label.nodeValue = 'Copy '; }, 1500);
});

// One press acts once, however long its answer takes; who stopped waiting may press again.
document.addEventListener('submit', (event) => {
  const form = event.target;
  const question = form.dataset.confirm;
  if (Date.now() - sent.get(form) < LONGEST_ANSWER_MS || (question && !confirm(question)))
    return event.preventDefault();
  if (form.method === 'post') sent.set(form, Date.now());
});

setInterval(() => {
  for (const time of main.querySelectorAll('time[data-runs]')) {
    time.dateTime = new Date(Date.parse(time.dateTime) + 1000).toISOString();
    time.textContent = time.dateTime.slice(0, 19).replace('T', ' ');
  }
  for (const left of main.querySelectorAll('[data-left]')) {
    left.dataset.left = Math.max(0, left.dataset.left - 1);
    left.textContent = span(left.dataset.left);
  }
}, 1000);

/** Seconds in their two largest units, as the page came with them. */
function span(seconds) {
  const parts = [];
  for (const [unit, size] of [['day', 86400], ['h', 3600], ['min', 60], ['s', 1]]) {
    const count = Math.floor(seconds / size);
    seconds %= size;
    if (count) parts.push(count + ' ' + unit + (unit === 'day' && count > 1 ? 's' : ''));
  }
  return parts.slice(0, 2).join(' ') || 'less than a second';
}

// On a small screen the tabs scroll sideways: the one that is open is in sight.
const tab = document.querySelector('.tabs [aria-current]');
if (tab) tab.closest('ul').scrollLeft = tab.offsetLeft - 60;

// After a form was refused the address is that of its action: reloading must not send it again.
if (main.dataset.page) history.replaceState(null, '', main.dataset.page);
prepare(document);
connect();
`;
