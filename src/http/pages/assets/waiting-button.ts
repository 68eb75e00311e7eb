const TICK_MS = 200;

/**
 * Shows on a button, in its own size, that a response is waited for and how long.
 *
 * @returns what ends it; further calls do nothing
 */
export function showWaiting(button: HTMLButtonElement | null): () => void {
  if (!button) return () => {};
  const label = [...button.childNodes];
  const word = button.dataset['busy'] ?? 'Sending…';
  const startedAt = Date.now();
  const { width, height } = button.getBoundingClientRect();
  button.style.width = `${width}px`;
  button.style.height = `${height}px`;
  button.ariaBusy = 'true';
  button.ariaDisabled = 'true';
  let timer: number | undefined = setInterval(() => {
    const seconds = Math.floor((Date.now() - startedAt) / 1000);
    button.textContent = seconds ? `${word} ${seconds} s` : word;
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
