const COPIED_MS = 1500;

/** Shows copy buttons only if the browser allows copying. */
export function copyButtonsIn(root: ParentNode): void {
  for (const button of root.querySelectorAll<HTMLElement>('[data-copy]'))
    button.hidden = !navigator.clipboard;
}

/** @param announce reports a copy to screen readers */
export function startCopying(announce: (text: string) => void): void {
  copyButtonsIn(document);
  document.addEventListener('click', async ({ target }) => {
    const button = target instanceof Element && target.closest<HTMLElement>('[data-copy]');
    if (!button) return;
    const source = document.getElementById(button.dataset['copy'] ?? '');
    await navigator.clipboard.writeText(source?.textContent ?? '');
    const label = button.firstChild as Text;
    label.data = 'Copied ';
    announce('Copied');
    setTimeout(() => label.replaceData(0, label.length, 'Copy '), COPIED_MS);
  });
}
