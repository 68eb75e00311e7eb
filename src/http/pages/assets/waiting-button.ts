const TICK_MS = 200;

/**
 * Shows on a button how long it has waited for a response, without changing its size.
 *
 * @returns a function that restores the button; further calls do nothing
 */
export function showWaiting(button: HTMLButtonElement | null): () => void {
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
