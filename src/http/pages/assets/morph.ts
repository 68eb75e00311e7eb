/*
 * Updates elements of the page to match fresh ones, with as few changes as possible. An id or data-key identifies an
 * element, so that focus, selection, scrolling, open details and typed text are preserved.
 */

/** The class of a new row until its flash ends. */
export const NEW_ROW = 'new';

const isElement = (node: Node): node is HTMLElement => node.nodeType === Node.ELEMENT_NODE;
/** Identifies an element in both versions of the page. */
export const keyOf = (node: Node) => (isElement(node) ? node.id || node.dataset?.['key'] || '' : '');
const isKept = (node: Node) => isElement(node) && node.dataset?.['keep'] !== undefined;
/** A busy button stays as it is until its response arrives. */
const isBusy = (node: Node) => isElement(node) && node.ariaBusy === 'true';
const waits = (node: Node) =>
  isBusy(node) || (isElement(node) && node.querySelector('[aria-busy=true]') !== null);

interface Morphing {
  /** Called with each new element. */
  onInsert: (element: HTMLElement) => void;
  /** Submitted forms, whose input is reset. */
  sent: readonly HTMLFormElement[];
}

export function morph(old: Node, fresh: Node, how: Morphing): void {
  if (isBusy(old) || old.isEqualNode(fresh)) return;
  if (isElement(old) && isElement(fresh)) {
    morphAttributes(old, fresh, how);
    morphChildren(old, fresh, how);
  } else old.nodeValue = fresh.nodeValue;
}

function morphChildren(old: HTMLElement, fresh: HTMLElement, how: Morphing): void {
  const wanted = new Set([...fresh.children].map(keyOf));
  const isGone = (node: Node) => keyOf(node) !== '' && !wanted.has(keyOf(node));
  const stays = (node: Node) => isKept(node) || (isGone(node) && waits(node));
  for (const child of [...old.children]) if (isGone(child) && !stays(child)) child.remove();
  const known = new Map<string, Node>([...old.children].filter(keyOf).map((child) => [keyOf(child), child]));
  let at: Node | null = old.firstChild;
  for (const child of [...fresh.childNodes]) {
    while (at && stays(at)) at = at.nextSibling;
    const key = keyOf(child);
    const same: Node | null | undefined = key ? known.get(key) : at && !keyOf(at) ? at : null;
    known.delete(key);
    if (!same || same.nodeName !== child.nodeName) {
      old.insertBefore(document.adoptNode(child), at);
      if (isElement(child)) how.onInsert(child);
      continue;
    }
    if (same === at) at = at.nextSibling;
    else old.insertBefore(same, at);
    morph(same, child, how);
  }
  while (at) {
    const next: Node | null = at.nextSibling;
    if (!isKept(at) && !waits(at)) at.parentNode?.removeChild(at);
    at = next;
  }
}

/** Whether the user may have set an attribute, which must then be preserved. */
function isSetByUser(element: HTMLElement, name: string, { sent }: Morphing): boolean {
  const isSent = () => sent.some((form) => form.contains(element));
  switch (name) {
    case 'value':
      return element instanceof HTMLInputElement && element.type !== 'hidden' && !isSent();
    case 'selected':
      return element.nodeName === 'OPTION' && !isSent();
    case 'open':
      return element.nodeName === 'DETAILS';
    case 'class':
      return element.classList.contains(NEW_ROW);
    default:
      return false;
  }
}

/** The fetched page does not show the problems of a submitted form, so they are preserved. */
const isProblem = (element: HTMLElement, name: string) =>
  element.ariaInvalid === 'true' && (name === 'aria-invalid' || name === 'aria-describedby');

function morphAttributes(old: HTMLElement, fresh: HTMLElement, how: Morphing): void {
  for (const { name, value } of [...fresh.attributes])
    if (old.getAttribute(name) !== value && !isSetByUser(old, name, how)) old.setAttribute(name, value);
  for (const { name } of [...old.attributes])
    if (!fresh.hasAttribute(name) && !isSetByUser(old, name, how) && !isProblem(old, name))
      old.removeAttribute(name);
}
