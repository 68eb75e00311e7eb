import type { Page } from 'playwright-core';

/** Describes the parts of a page that overflow, are cut off, or are too small to touch. */
export function misfits(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    const those = (what, selector, isSo) =>
      [...document.querySelectorAll(selector)]
        .filter(isSo)
        .map((one) => what + ': ' + one.tagName + ' ' + (one.id || one.textContent.trim().slice(0, 30)));
    const right = (one) => one.getBoundingClientRect().right;
    const scrolls = (one) => one !== null && (getComputedStyle(one).overflowX !== 'visible' || scrolls(one.parentElement));
    return [
      ...(scrollWidth > clientWidth ? ['the page scrolls sideways'] : []),
      ...those('too wide', 'body *', (one) => right(one) > clientWidth + 1 && !scrolls(one.parentElement)),
      ...those('covers code', '.code > button', (one) => {
        const [button, text] = [one, one.previousElementSibling].map((part) => part.getBoundingClientRect());
        return button.left < text.right && button.top < text.bottom && button.bottom > text.top && button.width > 0;
      }),
      ...those('hides a part of itself', '.scroll', (one) => one.scrollWidth > one.clientWidth),
      ...those('cut off', '.list button, .list a', (one) => right(one) > right(one.closest('td, th')) + 1),
      ...those('small to touch', 'a, button, input:not([type=hidden], [type=radio]), select, textarea, summary', (one) => {
        const { x, width, height } = one.getBoundingClientRect();
        const isInText = getComputedStyle(one).display === 'inline' && one.parentElement.textContent.trim() !== one.textContent.trim();
        return clientWidth < 600 && x >= 0 && height > 1 && Math.min(width, height) < 23.9 && !isInText;
      }),
      ...those('cut off', '.list td', (one) => right(one) > right(one.closest('.list')) + 1),
    ];
  })()`);
}
