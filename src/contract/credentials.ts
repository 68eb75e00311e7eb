/*
 * Credentials of requests, which nothing that people read may show: texts, pages, events, logs and commands to paste.
 * Records, JSON output and the library have them as sent.
 */

const PASSWORD = /(\/\/[^\s/?#@:"'<>\\]*:)[^\s/?#@"'<>\\]*@/g;
const ENCODED_PASSWORD = /(%2F%2F(?:(?!%2F|%40|%3A)[\w.~!*'()%-])*%3A)(?:(?!%2F|%40)[\w.~!*'()%-])*%40/gi;

/** A text with the passwords in its addresses masked, also where an address is percent-encoded, as in a form. */
export function hidePasswords(text: string): string {
  // Most texts hold none, and each event has a hundred of them.
  if (!text.includes('@') && !text.includes('%40')) return text;
  return text.replace(PASSWORD, '$1…@').replace(ENCODED_PASSWORD, '$1…%40');
}

/** Headers that are masked whole: they may encode a secret in any way. */
const CREDENTIALS = new Set(['authorization', 'proxy-authorization', 'cookie']);

export function shownHeader(name: string, value: string): string {
  return CREDENTIALS.has(name.toLowerCase()) ? '…' : value;
}

/** Headers as they may be shown. */
export function shownHeaders(headers: readonly (readonly [string, string])[]): [string, string][] {
  return headers.map(([name, value]) => [name, shownHeader(name, value)]);
}
