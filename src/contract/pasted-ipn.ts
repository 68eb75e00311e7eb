import { printedForm, unquoted } from './printed-fields.ts';

/*
 * Texts that users paste to check an IPN: its body, or something that contains it.
 */

/** Whether a text is the id of an IPN of the emulator. No body looks like one. */
export const isDeliveryId = (text: string): boolean => /^ipn_\w+$/.test(text.trim());

/** The text of bytes in UTF-8 or, as PowerShell writes it, UTF-16. A byte order mark is removed. */
export function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isBigEndian = (first === 0xfe && second === 0xff) || (first === 0 && second !== 0);
  const isLittleEndian = (first === 0xff && second === 0xfe) || (first !== 0 && second === 0);
  return new TextDecoder(isBigEndian ? 'utf-16be' : isLittleEndian ? 'utf-16le' : 'utf-8').decode(bytes);
}

/** The body of the last IPN in a pasted text; the text itself if it is only a body. */
export function ipnBodyIn(pasted: string): string {
  const text = withoutEnd(pasted.replace(/^[\uFEFF\r\n]+/, ''));
  for (const read of [listened, recorded, httpRequest, curl, prettyForm, quotedBody, logged, printed]) {
    const body = read(text);
    if (body !== undefined) return body;
  }
  return text;
}

/** The marks around a body in the output of `ipn listen`. */
export const LISTENED = { arrow: '-->', valid: 'valid', invalid: 'not valid' } as const;

/** The output of `ipn listen`: a line with an arrow, the body, the verdict. */
function listened(text: string): string | undefined {
  const { arrow, valid, invalid } = LISTENED;
  const lines = text.split('\n');
  const begin = lines.findLastIndex((line) => line.startsWith(`${arrow} `)) + 1;
  if (!begin) return undefined;
  const isVerdict = (line: string) => line.trimEnd() === valid || line.trimEnd() === invalid;
  const end = lines.findIndex((line, index) => index >= begin && isVerdict(line));
  return withoutEnd(lines.slice(begin, end < 0 ? undefined : end).join('\n'));
}

/** Removes trailing line breaks. Each run of line breaks is tried only once, because a text can have very many. */
function withoutEnd(text: string): string {
  return text.replace(/(?<![\r\n])[\r\n]+$/, '');
}

/** A line of `ipn listen --json`, or a delivery: an object with the body as text. */
function recorded(text: string): string | undefined {
  const lines = text.split(/\r?\n/).filter(Boolean);
  for (const candidate of [text, lines.at(-1) ?? '']) {
    if (!candidate.startsWith('{')) continue;
    const { body, signature } = objectIn(candidate);
    if (typeof body === 'string' && signature === undefined) return body;
  }
  return undefined;
}

function objectIn(json: string): { body?: unknown; signature?: unknown } {
  return (isJson(json) && JSON.parse(json)) || {};
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function httpRequest(text: string): string | undefined {
  return /^[A-Z]+ \S+ HTTP\/[\d.]+\r?\n(?:[^\r\n]+\r?\n)*\r?\n(.*)$/s.exec(text)?.[1];
}

function curl(text: string): string | undefined {
  if (!/^curl\s/.test(text)) return undefined;
  const quoted = /\s(?:-d|--data(?:-raw|-binary)?) '((?:[^']|'\\'')*)'/.exec(text)?.[1];
  return quoted?.replaceAll("'\\''", "'");
}

/** A form with one decoded field per line, as the pages of the emulator and the tools of browsers show it. */
function prettyForm(text: string): string | undefined {
  if (text.includes('&')) return undefined;
  const lines = text.split(/\r?\n/);
  const fields = lines.flatMap((line): [string, string][] => {
    const [, name = '', value = ''] = /^([\w.[\]-]+)(?: = |: ?|=|\t)(.*)$/.exec(line) ?? [];
    return name ? [[name, value]] : [];
  });
  const isForm = fields.length === lines.length && fields.some(([name]) => NAMES.includes(name));
  return isForm ? new URLSearchParams(fields).toString() : undefined;
}

const NAMES = ['status', 'signature', 'identifier'];

/** A body as a quoted text, such as Python's `b'status=success&…'`. */
function quotedBody(text: string): string | undefined {
  const [, literal] = /^[bu]?("(?:\\[\s\S]|[^"\\])*"|'(?:\\[\s\S]|[^'\\])*')$/.exec(text) ?? [];
  return literal && ipnBodyIn(unquoted(literal));
}

/** A form that a log or a page shows: after other words, or with `&` written for HTML. */
function logged(text: string): string | undefined {
  if (/^[\w.%[\]-]+=[^\n]*&/.test(text)) return text.replaceAll('&amp;', '&');
  const word = text.split(/[\s"'<>]+/).findLast((one) => /(?:^|[&;?])signature=/.test(one));
  return word?.includes('&') ? word.replaceAll('&amp;', '&') : undefined;
}

/** The output of a program that printed the fields. */
function printed(text: string): string | undefined {
  return isJson(text) ? undefined : printedForm(text.replace(/&(quot|#0?39|gt|lt|amp);/g, unescaped));
}

const HTML: Readonly<Record<string, string>> = {
  quot: '"',
  '#39': "'",
  '#039': "'",
  gt: '>',
  lt: '<',
  amp: '&',
};
const unescaped = (whole: string, name: string) => HTML[name] ?? whole;
