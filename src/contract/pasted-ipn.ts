import { printedForm, unquoted } from './printed-fields.ts';

/*
 * Texts that users paste to check an IPN: its body, or something that contains it.
 */

/** Whether a text is the id of an IPN of the emulator. No body looks like one. */
export const isDeliveryId = (text: string): boolean => /^ipn_\w+$/.test(text.trim());

/** The body of the last IPN in a pasted text; the text itself if it is only a body. */
export function ipnBodyIn(pasted: string): string {
  const text = withoutEnd(pasted.replace(/^[\uFEFF\r\n]+/, ''));
  for (const read of [
    listened,
    recorded,
    bytes,
    httpRequest,
    curl,
    multipart,
    query,
    prettyForm,
    quotedBody,
    logged,
    printed,
  ]) {
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

/** A line of `ipn listen --json`, a delivery, or the event of a cloud function: an object with the body as text. */
function recorded(text: string): string | undefined {
  const lines = text.split(/\r?\n/).filter(Boolean);
  for (const candidate of [text, lines.at(-1) ?? '']) {
    if (!candidate.startsWith('{')) continue;
    const { body, signature, isBase64Encoded } = objectIn(candidate);
    if (typeof body !== 'string' || signature !== undefined) continue;
    return isBase64Encoded === true ? Buffer.from(body, 'base64').toString() : body;
  }
  return undefined;
}

/** Bytes as Node prints them, as JSON has them, or in base64. */
function bytes(text: string): string | undefined {
  const [, hex] = /^<Buffer ((?:[0-9a-f]{2} ?)+)>$/i.exec(text) ?? [];
  if (hex !== undefined) return Buffer.from(hex.replaceAll(' ', ''), 'hex').toString();
  const [, list] = /^(?:\{"type":"Buffer","data":|Uint8Array\(\d+\) )\[([\d,\s]+)\]\}?$/.exec(text) ?? [];
  if (list !== undefined) return Buffer.from(list.split(',').map(Number)).toString();
  if (!/^[A-Za-z0-9+/]{40,}={0,2}$/.test(text)) return undefined;
  const decoded = Buffer.from(text, 'base64').toString();
  return decoded.includes('signature') ? ipnBodyIn(decoded) : undefined;
}

/** A multipart form, as frameworks print it. */
function multipart(text: string): string | undefined {
  const [, boundary] = /^(--\S+)\r?\nContent-Disposition:/i.exec(text) ?? [];
  if (boundary === undefined) return undefined;
  const fields = text.split(boundary).flatMap((part): [string, string][] => {
    const [, name, value] = /name="([^"]+)"[^\n]*\n\r?\n([\s\S]*?)\r?\n$/.exec(part) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value]];
  });
  return new URLSearchParams(fields).toString();
}

/** The query of an address. */
function query(text: string): string | undefined {
  return /^(?:https?:\/\/|\/)\S*?\?(\S*signature=\S*)$/i.exec(text)?.[1];
}

function objectIn(json: string): { body?: unknown; signature?: unknown; isBase64Encoded?: unknown } {
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
  // JSON inside JSON, without its quotes.
  if (/^\{\s*\\"/.test(text)) return ipnBodyIn(unquoted(`"${text}"`));
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
