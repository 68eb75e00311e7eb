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
  const parts = [
    // Brackets and braces are part of an address here, not a pattern of several.
    `curl ${/[[\]{}]/.test(url) ? '--globoff ' : ''}${quoted(url)}`,
    ...(method === undefined ? [] : [method === 'HEAD' ? '--head' : `-X ${method}`]),
    ...headers
      .filter(([name]) => !MADE_BY_CURL.has(name.toLowerCase()))
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // Not --data: that would read a file where the body begins with an @.
    ...(body === undefined ? [] : [`--data-raw ${quoted(body)}`]),
  ];
  return parts.join(' \\\n  ');
}

/** What a terminal obeys: control characters (but tab and line feed), and what turns the direction of a text. */
export const OBEYED_BY_TERMINALS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * A text as one word of a shell, whatever it holds. What a terminal would obey when it is pasted stands, byte by byte, in the
 * `$'…'` of bash, zsh and POSIX 2024.
 */
export function quoted(text: string): string {
  if (text.search(OBEYED_BY_TERMINALS) < 0) return `'${text.replaceAll("'", `'\\''`)}'`;
  const bytes = [...Buffer.from(text)].map((byte) => {
    const character = String.fromCharCode(byte);
    if (byte < 0x20 || byte > 0x7e) return `\\${byte.toString(8).padStart(3, '0')}`;
    return character === "'" || character === '\\' ? `\\${character}` : character;
  });
  return `$'${bytes.join('')}'`;
}
