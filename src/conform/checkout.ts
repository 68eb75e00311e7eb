import { headerIn } from '../contract/headers.ts';
import { at, parsed } from './answer.ts';
import type { Answer, Target } from './target.ts';

/** Maximum steps of a checkout before it redirects the browser. */
const MAX_STEPS = 8;
/** The part of a page that is searched for a form. */
const SHOWN_CHARACTERS = 65_536;
const HTML = [['Accept', 'text/html']] as const;

/**
 * Pays a sandbox payment on its hosted checkout like a browser with cookies: submits the test e-mail, then the test
 * code, in the first form with an input.
 *
 * @param path the path of the checkout at the target
 * @returns the final redirect; undefined if there is none
 */
export async function payOnCheckout(target: Target, path: string): Promise<string | undefined> {
  const { email, code } = target.sandbox;
  const entries = [email, code];
  const cookies = new Map<string, string>();
  const visit = async (to: string, body?: string) => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ');
    const headers = cookie ? [...HTML, ['Cookie', cookie] as const] : HTML;
    const answer = await target.send(to, { headers, ...(body !== undefined && { body }) });
    for (const [name, value] of answer.headers) {
      const [, key = '', kept = ''] = /^\s*([^=;\s]+)=([^;]*)/.exec(value) ?? [];
      if (name.toLowerCase() === 'set-cookie') cookies.set(key, kept);
    }
    return answer;
  };
  let page = await visit(path);
  let here = path;
  for (let step = 0; step < MAX_STEPS; step++) {
    const location = nextOf(page);
    if (location !== undefined) {
      const next = target.pathOf(location, here);
      // With an emulator, the shop may also run on this machine.
      if (next === undefined || (target.isEmulator && !isCheckout(next))) return location;
      here = next;
      page = await visit(next);
      continue;
    }
    const form = formOf(page.body.slice(0, SHOWN_CHARACTERS), entries[0] ?? '');
    const action = form && target.pathOf(form.action, here);
    if (!form || action === undefined || !entries.length) return undefined;
    entries.shift();
    here = action;
    page = await visit(action, form.body);
  }
  return undefined;
}

/** The next address: from a redirect, or from JSON that a script on the page would read. */
function nextOf({ status, headers, body }: Answer): string | undefined {
  if (status >= 300 && status < 400) return headerIn(headers, 'location');
  const url = at(parsed(body), 'redirect_url');
  return typeof url === 'string' ? url : undefined;
}

const isCheckout = (path: string) => /\/initiate\/payment\//.test(path);

function formOf(html: string, value: string) {
  // Split first: one pattern for whole forms takes seconds if many forms begin and none ends.
  for (const part of html.split(/<\/form>/i).slice(0, -1)) {
    const [, attributes = '', inner = ''] = /<form\b([^<>]*)>([\s\S]*)/i.exec(part) ?? [];
    const fields = [...inner.matchAll(/<input\b([^<>]*)>/gi)].map(([, all = '']) => ({
      name: attribute(all, 'name'),
      value: attribute(all, 'value') ?? '',
      type: attribute(all, 'type') ?? 'text',
    }));
    const input = fields.find(
      ({ name, type }) => name !== undefined && /^(text|email|number|tel|password)$/.test(type),
    );
    if (!input) continue;
    const body = new URLSearchParams();
    for (const field of fields) {
      if (field === input) body.append(field.name ?? '', value);
      else if (field.type === 'hidden' && field.name !== undefined) body.append(field.name, field.value);
    }
    return { action: attribute(attributes, 'action') ?? '', body: body.toString() };
  }
  return undefined;
}

/** The value of an attribute as a browser parses it. */
function attribute(text: string, name: string): string | undefined {
  const found = new RegExp(`(?:^|\\s)${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(text);
  const value = found?.[1] ?? found?.[2] ?? found?.[3];
  return value?.replaceAll('&amp;', '&').replaceAll('&quot;', '"').replaceAll('&#39;', "'");
}
