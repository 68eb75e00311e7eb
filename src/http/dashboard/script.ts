/*
 * The one script of the dashboard, served as it stands. Pages are whole without it; it makes them live: what happens
 * comes as server-sent events, the page is fetched again at most twice a second, and the parts of it that are marked
 * data-live and changed are put in the place of the old ones.
 */
export const LIVE_SCRIPT = `'use strict';
const PAUSE_MS = 500;
const live = document.getElementById('live');
let events, timer, fetching = false, again = false;

function say(on) {
  if (live.classList.contains(on ? 'on' : 'off')) return;
  live.className = 'live ' + (on ? 'on' : 'off');
  live.textContent = on ? live.dataset.on : live.dataset.off;
}

function soon() {
  if (timer) return;
  timer = setTimeout(refresh, PAUSE_MS);
}

async function refresh() {
  timer = undefined;
  if (fetching) { again = true; return; }
  fetching = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: 'text/html' } });
    // Its styles have another nonce: they would be refused, with an error in the console.
    const html = (await answer.text()).replace(/<style[^]*?<\\/style>/g, '');
    if (answer.ok) swap(new DOMParser().parseFromString(html, 'text/html'));
  } catch { say(false); }
  fetching = false;
  if (again) { again = false; soon(); }
}

function swap(fresh) {
  for (const old of document.querySelectorAll('[data-live]')) {
    const next = fresh.getElementById(old.id);
    if (!next || next.outerHTML === old.dataset.was) continue;
    const typing = old.contains(document.activeElement) && /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (typing) continue;
    const focused = old.contains(document.activeElement) ? focusKey(old, document.activeElement) : -1;
    const open = [...old.querySelectorAll('details[id][open]')].map((one) => one.id);
    const scrolled = [...old.querySelectorAll('[id]')].filter((one) => one.scrollLeft || one.scrollTop).map((one) => [one.id, one.scrollLeft, one.scrollTop]);
    const was = next.outerHTML;
    old.replaceWith(document.adoptNode(next));
    next.dataset.was = was;
    for (const id of open) document.getElementById(id)?.setAttribute('open', '');
    for (const [id, left, top] of scrolled) document.getElementById(id)?.scrollTo(left, top);
    prepare(next);
    if (focused >= 0) focusable(next)[focused]?.focus({ preventScroll: true });
  }
}

function focusable(root) { return [root, ...root.querySelectorAll('a[href], button, summary, [tabindex]')]; }
function focusKey(root, element) { return focusable(root).indexOf(element); }

function prepare(root) {
  for (const button of root.querySelectorAll('[data-copy]')) button.hidden = !navigator.clipboard;
}

function connect() {
  if (events || document.hidden) return;
  events = new EventSource('/_sim/events');
  events.onopen = () => { if (live.classList.contains('off')) soon(); say(true); };
  events.onerror = () => say(false);
  for (const type of ['request', 'payment', 'delivery', 'message', 'cardTransaction', 'notice']) events.addEventListener(type, soon);
}

// A browser has few connections for one address: a tab that nobody looks at gives its own back.
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) { connect(); soon(); return; }
  events?.close();
  events = undefined;
});
document.addEventListener('click', async (event) => {
  const button = event.target.closest('[data-copy]');
  if (!button) return;
  const text = document.getElementById(button.dataset.copy)?.textContent ?? '';
  await navigator.clipboard.writeText(text);
  const before = button.innerHTML;
  button.textContent = 'Copied';
  setTimeout(() => { button.innerHTML = before; }, 1500);
});
document.addEventListener('submit', (event) => {
  const question = event.target.dataset.confirm;
  if (question && !confirm(question)) event.preventDefault();
});
for (const part of document.querySelectorAll('[data-live]')) part.dataset.was = part.outerHTML;
prepare(document);
connect();
`;
