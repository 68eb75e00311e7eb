import type { Attempt, Delivery } from './delivery.ts';

export interface PostedDelivery extends Pick<Delivery, 'url' | 'contentType' | 'body'> {
  attempts: readonly Pick<Attempt, 'url' | 'requestHeaders' | 'requestBody'>[];
}

/** A request to be sent by hand. */
export interface CurlRequest {
  /** Default: POST where there is a body. */
  method?: string;
  url: string;
  headers: readonly (readonly [string, string])[];
  /** Without one, none is sent. */
  body?: string | undefined;
}

/** Headers that curl makes itself out of the address and the body. */
const MADE_BY_CURL = new Set(['host', 'content-length', 'connection']);

/**
 * A delivery as a command to paste into a shell: the bytes of its last attempt, to the same address with the same
 * headers, or those that its first one will send.
 */
export function curlCommand(delivery: PostedDelivery): string {
  const last = delivery.attempts.at(-1);
  return curlRequest({
    url: last?.url ?? delivery.url,
    headers: last?.requestHeaders ?? [['Content-Type', delivery.contentType] as const],
    body: last?.requestBody ?? delivery.body,
  });
}

/** A request as a command to paste into a shell. */
export function curlRequest({ method, url, headers, body }: CurlRequest): string {
  // No argument of a command can hold what a terminal obeys and be pasted.
  const isPiped = body !== undefined && body.search(OBEYED_BY_TERMINALS) >= 0;
  const parts = [
    // Brackets and braces are part of an address here, not a pattern of several.
    `curl ${/[[\]{}]/.test(url) ? '--globoff ' : ''}${quoted(url)}`,
    ...(method === undefined ? [] : [method === 'HEAD' ? '--head' : `-X ${method}`]),
    ...headers
      .filter(([name]) => !MADE_BY_CURL.has(name.toLowerCase()))
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // Not --data: that would read a file where the body begins with an @.
    ...(body === undefined ? [] : [isPiped ? '--data-binary @-' : `--data-raw ${quoted(body)}`]),
  ];
  return `${isPiped ? `${printed(body)} | ` : ''}${parts.join(' \\\n  ')}`;
}

/** What a terminal obeys: control characters (but tab and line feed), and what turns the direction of a text. */
export const OBEYED_BY_TERMINALS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

const OBEYED_TOGETHER = new RegExp(`(${OBEYED_BY_TERMINALS.source}+)`);

/**
 * A text as one word of any shell, whatever it holds: between single quotes, in which nothing has a meaning. What a
 * terminal would obey when it is pasted is made by a command in its place.
 */
export function quoted(text: string): string {
  const parts = text.split(OBEYED_TOGETHER).map((part, index) => {
    if (index % 2) return `"$(${printed(part)})"`;
    return part === '' ? '' : `'${part.replaceAll("'", `'\\''`)}'`;
  });
  return parts.join('') || "''";
}

/** A text as a word of a shell, in quotes only where it needs them. */
export function shellWord(text: string): string {
  return /^[\w./:@+,-][\w./:@=+,-]*$/.test(text) ? text : quoted(text);
}

/** A command that prints a text: `printf` reads no more than three octal digits of a byte, in every shell alike. */
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
