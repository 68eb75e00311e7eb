/** The origin of pages without one: sandboxed frames, files, redirected POSTs. */
export const NO_ORIGIN = 'null';

/** An origin as browsers write it, from `null` or an address without a path; undefined if invalid. */
export function readOrigin(text: string): string | undefined {
  if (text === NO_ORIGIN) return NO_ORIGIN;
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\\\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, host } = new URL(text);
  return host ? `${protocol}//${host}` : undefined;
}
