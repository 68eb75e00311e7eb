import { live, load, main, refreshNow, refreshSoon, reportDisconnected, showRejected } from './refresh.ts';

/** If sending fails within this time, the form never reached the emulator. Later, it may have been processed. */
const REFUSED_MS = 2000;

const sending = new Set<HTMLFormElement>();

/** Sends forms without leaving the page. A form is sent once, however long the response takes. */
document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!(form instanceof HTMLFormElement) || form.getAttribute('method') !== 'post' || form.target) return;
  event.preventDefault();
  const question = form.dataset['confirm'];
  if (sending.has(form) || (question && !confirm(question))) return;
  const { submitter } = event;
  void send(form, submitter instanceof HTMLButtonElement ? submitter : null);
});

async function send(form: HTMLFormElement, button: HTMLButtonElement | null): Promise<void> {
  const name = (button?.textContent ?? form.ariaLabel ?? 'The form').trim().replace(/\s+/g, ' ');
  const body = fieldsOf(form, button);
  const stopWaiting = showWaiting(button);
  const startedAt = Date.now();
  sending.add(form);
  try {
    await post(form, body, stopWaiting);
  } catch {
    reportDisconnected();
    const isUnsent = Date.now() - startedAt < REFUSED_MS;
    showMessage(
      form,
      isUnsent ? `“${name}” was not sent.` : `“${name}” got no response. It may have been processed.`,
      true,
    );
  } finally {
    stopWaiting();
    sending.delete(form);
  }
}

async function post(form: HTMLFormElement, body: BodyInit, stopWaiting: () => void): Promise<void> {
  const { response, text, content } = await load(form.getAttribute('action') ?? '', { method: 'POST', body });
  const target = response.headers.get('Location');
  if (target === null) {
    stopWaiting();
    clearProblems();
    if (content) showRefusal(content);
    else showMessage(form, messageIn(text));
  } else if (isHere(target)) {
    clearProblems();
    if (!(await refreshNow({ form, stopWaiting }).catch(() => false))) refreshSoon();
    pointTo(new URL(target, location.href).hash, form);
  } else {
    location.assign(target);
    // Keep the button busy until the other page has loaded, or the user returns to this one.
    await new Promise((resolve) => addEventListener('pageshow', resolve, { once: true }));
  }
}

/** Opens the element that a form's result links to, such as a step, without scrolling away from the form. */
function pointTo(hash: string, form: HTMLFormElement): void {
  const shown = document.getElementById(hash.slice(1));
  if (!shown || shown.contains(form) || hash === location.hash) return;
  const { scrollX, scrollY } = window;
  const focused = document.activeElement;
  location.replace(hash);
  scrollTo({ left: scrollX, top: scrollY, behavior: 'instant' });
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
}

function fieldsOf(form: HTMLFormElement, button: HTMLButtonElement | null): URLSearchParams {
  const fields = new FormData(form);
  if (button?.name) fields.append(button.name, button.value);
  return new URLSearchParams([...fields].map(([name, value]) => [name, String(value)]));
}

/** Whether a URL points to this page, or to a part of it. */
function isHere(target: string): boolean {
  return withoutEmpty(new URL(target, location.href)) === withoutEmpty(new URL(location.href));
}

function withoutEmpty({ pathname, searchParams }: URL): string {
  return `${pathname}?${new URLSearchParams([...searchParams].filter(([, value]) => value))}`;
}

/** Removes problems, which a refresh preserves. */
function clearProblems(): void {
  for (const element of main.querySelectorAll('[data-keep]')) element.remove();
  for (const field of main.querySelectorAll('[aria-invalid]')) {
    field.removeAttribute('aria-invalid');
    field.removeAttribute('aria-describedby');
  }
}

function showRefusal(content: HTMLElement): void {
  showRejected(content);
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

function showMessage(form: HTMLFormElement, text: string, isLost = false): void {
  const box = document.createElement('div');
  box.className = 'box alert';
  box.role = 'alert';
  box.dataset['keep'] = '';
  if (isLost) {
    const lost = document.createElement('strong');
    lost.className = 'lost';
    lost.textContent = live.dataset['off'] ?? '';
    box.append(lost);
  }
  const message = document.createElement('p');
  message.textContent = text;
  box.append(message);
  clearProblems();
  if (form.isConnected) form.after(box);
  else main.prepend(box);
}

const TICK_MS = 200;

/**
 * Shows on a button how long it has waited for a response, without changing its size.
 *
 * @returns a function that restores the button; further calls do nothing
 */
function showWaiting(button: HTMLButtonElement | null): () => void {
  if (!button) return () => {};
  const label = [...button.childNodes];
  const word = document.createElement('span');
  word.textContent = 'Sending…';
  const time = document.createTextNode('');
  const startedAt = Date.now();
  const { width, height } = button.getBoundingClientRect();
  button.style.width = `${width}px`;
  button.style.height = `${height}px`;
  button.ariaBusy = 'true';
  button.ariaDisabled = 'true';
  let timer: number | undefined = setInterval(() => {
    const seconds = Math.floor((Date.now() - startedAt) / 1000);
    if (seconds) time.data = ` ${seconds} s`;
    if (!word.isConnected) button.replaceChildren(word, time);
    // A small button has room only for the time.
    if (seconds && button.scrollWidth > button.clientWidth) word.className = 'unseen';
  }, TICK_MS);
  return () => {
    if (timer === undefined) return;
    clearInterval(timer);
    timer = undefined;
    button.replaceChildren(...label);
    button.removeAttribute('style');
    button.ariaBusy = null;
    button.ariaDisabled = null;
  };
}
