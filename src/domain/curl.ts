import type { Attempt, Delivery } from './state.ts';

/** What a command needs to know of a delivery. */
export interface PostedDelivery extends Pick<Delivery, 'url' | 'contentType' | 'body'> {
  attempts: readonly Pick<Attempt, 'url' | 'requestHeaders' | 'requestBody'>[];
}

/** Headers that curl makes itself out of the address and the body. */
const MADE_BY_CURL = new Set(['host', 'content-length', 'connection']);

/**
 * A delivery as a command to paste into a shell: the bytes of its last attempt, to the same address with the same
 * headers, or those that its first one will send.
 */
export function curlCommand(delivery: PostedDelivery): string {
  const last = delivery.attempts.at(-1);
  const url = last?.url ?? delivery.url;
  const headers = last?.requestHeaders ?? [['Content-Type', delivery.contentType] as const];
  const parts = [
    // Brackets and braces are part of an address here, not a pattern of several.
    `curl ${/[[\]{}]/.test(url) ? '--globoff ' : ''}${quoted(url)}`,
    ...headers
      .filter(([name]) => !MADE_BY_CURL.has(name.toLowerCase()))
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // Not --data: that would read a file where the body begins with an @.
    `--data-raw ${quoted(last?.requestBody ?? delivery.body)}`,
  ];
  return parts.join(' \\\n  ');
}

/** A text as one word of a POSIX shell, whatever it holds. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
