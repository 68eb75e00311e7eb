import type { Attempt, Delivery } from './delivery.ts';
import { shownHeader } from './secrets.ts';

interface PostedDelivery extends Pick<Delivery, 'url' | 'contentType' | 'body'> {
  attempts: readonly Pick<Attempt, 'url' | 'requestHeaders' | 'requestBody'>[];
}

/** A request to send by hand. */
interface CurlRequest {
  /** Default: POST if there is a body, else GET. */
  method?: string;
  url: string;
  headers: readonly (readonly [string, string])[];
  body?: string | undefined;
}

/** Headers that curl derives from the address and the body. */
const SET_BY_CURL = new Set(['host', 'content-length', 'connection']);

/** A shell command that repeats the last attempt of a delivery, or makes the first one. */
export function curlCommand(delivery: PostedDelivery): string {
  const last = delivery.attempts.at(-1);
  return curlRequest({
    url: last?.url ?? delivery.url,
    headers: last?.requestHeaders ?? [['Content-Type', delivery.contentType] as const],
    body: last?.requestBody ?? delivery.body,
  });
}

/**
 * A request as a shell command.
 *
 * @param shown the value of a header; by default, credentials are masked
 */
export function curlRequest(
  { method, url, headers, body }: CurlRequest,
  shown: (name: string, value: string) => string = shownHeader,
): string {
  // Control characters cannot be pasted as part of an argument.
  const isPiped = body !== undefined && body.search(OBEYED_BY_TERMINALS) >= 0;
  const parts = [
    // Brackets and braces are part of the address here, not a pattern.
    `curl ${/[[\]{}]/.test(url) ? '--globoff ' : ''}${quoted(url)}`,
    ...(method === undefined ? [] : [method === 'HEAD' ? '--head' : `-X ${method}`]),
    ...headers
      .filter(([name]) => !SET_BY_CURL.has(name.toLowerCase()))
      .map(([name, value]) => `-H ${quoted(`${name}: ${shown(name, value)}`)}`),
    // Not --data: it would read a file if the body begins with @.
    ...(body === undefined ? [] : [isPiped ? '--data-binary @-' : `--data-raw ${quoted(body)}`]),
  ];
  return `${isPiped ? `${printed(body)} | ` : ''}${parts.join(' \\\n  ')}`;
}

/**
 * Characters that control a terminal: control characters except tab and line feed, and characters that change the text
 * direction.
 */
export const OBEYED_BY_TERMINALS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const OBEYED_TOGETHER = new RegExp(`(${OBEYED_BY_TERMINALS.source}+)`);

/**
 * Quotes a text as one word of any shell, in single quotes. Characters that would control the terminal when pasted are
 * replaced by a command that prints them.
 */
export function quoted(text: string): string {
  const parts = text.split(OBEYED_TOGETHER).map((part, index) => {
    if (index % 2) return `"$(${printed(part)})"`;
    return part === '' ? '' : `'${part.replaceAll("'", `'\\''`)}'`;
  });
  return parts.join('') || "''";
}

/** A text as one word of a shell, quoted only if necessary. */
export function shellWord(text: string): string {
  return /^[\w./:@+,-][\w./:@=+,-]*$/.test(text) ? text : quoted(text);
}

/** A command that prints a text. In every shell, `printf` reads at most three octal digits per byte. */
function printed(text: string): string {
  const bytes = [...Buffer.from(text)].map((byte, index) => {
    const character = String.fromCharCode(byte);
    const isOption = index === 0 && character === '-';
    if (byte < 0x20 || byte > 0x7e || character === "'" || isOption)
      return `\\${byte.toString(8).padStart(3, '0')}`;
    return character === '%' || character === '\\' ? character + character : character;
  });
  return `printf '${bytes.join('')}'`;
}
