const COPIED_MS = 1500;

/** Buttons that copy are there only where the browser lets them. */
export function copyButtonsIn(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLElement>('[data-copy]'))
    button.hidden = !navigator.clipboard;
}

/** @param tell says it to those who do not see it */
export function startCopying(tell: (text: string) => void): void {
  copyButtonsIn(document);
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element && target.closest<HTMLElement>('[data-copy]');
    if (!button) return;
    const source = document.getElementById(button.dataset['copy'] ?? '');
    await navigator.clipboard.writeText(source?.textContent ?? '');
    const label = button.firstChild as Text;
    label.data = 'Copied ';
    tell('Copied');
    setTimeout(() => label.replaceData(0, label.length, 'Copy '), COPIED_MS);
  });
}
