import { copyButtonsIn } from './copy.ts';
import { morph, NEW_ROW } from './morph.ts';

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

/** Whether events come. */
let isHearing = false;

function showConnection(connection: 'on' | 'off'): void {
  if (live.classList.contains(connection)) return;
  live.className = `live ${connection}`;
  live.textContent = live.dataset[connection] ?? '';
  if (connection === 'on') for (const lost of main.querySelectorAll('.lost')) lost.remove();
}

/** Tells whether events come; where they come again, what they would have told was missed. */
export function setHearing(isOn: boolean): void {
  if (isOn && live.classList.contains('off')) refreshSoon();
  isHearing = isOn;
  showConnection(isOn ? 'on' : 'off');
}

/** Tells that an answer did not come, until one comes. */
export function lose(): void {
  showConnection('off');
  refreshSoon();
}

/** What the emulator answered to the script. */
export interface Loaded {
  response: Response;
  text: string;
  /** What the page shows; null for what is no page of the dashboard. */
  content: HTMLElement | null;
}

/** @throws TypeError when no answer comes */
export async function load(address: string, init: RequestInit = {}): Promise<Loaded> {
  const response = await fetch(address, { ...init, headers: { 'X-Gateway-Sim-Live': '1' } });
  if (response.status === 401) {
    // The control token was replaced: the page asks for the new one.
    location.reload();
    return new Promise(() => {});
  }
  const text = await response.text();
  return {
    response,
    text,
    content: new DOMParser().parseFromString(text, 'text/html').getElementById('content'),
  };
}

/** Counts what was asked for: only the last of it is shown. */
let asked = 0;
let shownAddress = location.href;

/** Changes the page to what the emulator answered. @param sent forms that are done */
export function show(content: HTMLElement, sent: readonly HTMLFormElement[] = []): void {
  asked++;
  // A list that shows something else has no new rows.
  const flashes = shownAddress === location.href;
  shownAddress = location.href;
  const onInsert = (element: HTMLElement) => {
    copyButtonsIn(element);
    if (flashes && element.matches('tbody > tr')) element.classList.add(NEW_ROW);
  };
  const focused = document.activeElement;
  morph(main, content, { onInsert, sent });
  for (const form of sent) form.reset();
  // What had the focus may be gone, and the focus with it.
  if (document.activeElement === document.body && focused !== document.body)
    main.focus({ preventScroll: true });
}

/** A form that is done, and the end of its waiting. */
interface Sent {
  form: HTMLFormElement;
  stopWaiting: () => void;
}

/** Forms that are done, and whose outcome no page shows yet. */
const unshown = new Set<Sent>();
/** The last that was asked for by address, and whether it was shown. */
let newest = { number: 0, isShown: Promise.resolve(false) };

/**
 * Shows the page at the address as it is now.
 *
 * @param sent what asks for it
 * @returns whether this page or one that was asked for later was shown
 */
export function refreshNow(sent?: Sent): Promise<boolean> {
  if (sent) unshown.add(sent);
  const number = ++asked;
  newest = { number, isShown: fetchAndShow(number) };
  const { isShown } = newest;
  return sent ? isShown.finally(() => unshown.delete(sent)) : isShown;
}

async function fetchAndShow(number: number): Promise<boolean> {
  const { response, content } = await load(location.href);
  if (isHearing) showConnection('on');
  if (number !== asked) return number < newest.number && newest.isShown;
  if (!response.ok || !content) return false;
  for (const { stopWaiting } of unshown) stopWaiting();
  show(
    content,
    [...unshown].map(({ form }) => form),
  );
  return true;
}

let timer: number | undefined;
let isFetching = false;
let pressedUntil = 0;

/** Shows the page anew in a moment, at most twice a second. */
export function refreshSoon(): void {
  if (timer === undefined) timer = setTimeout(refresh, PAUSE_MS);
}

async function refresh(): Promise<void> {
  timer = undefined;
  // What answers a form is at no address.
  if (main.hasAttribute('data-still') && main.dataset['page']) return;
  // A click is a press and a release on the same element: none is moved in between.
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
