import { bareHost, isAnyAddress, isLoopback } from './address.ts';

/** Whose pages may initiate from the browser, beside those of this machine and of private networks. */
export interface OwnPages {
  /** As `readOrigin` reads them. */
  origins: ReadonlySet<string>;
  hosts: ReadonlySet<string>;
}

/** The origin of pages that have none of their own: sandboxed frames, files, redirected posts. */
const NONE = 'null';

/** An origin as browsers write it, from `null` or an address without path; undefined for what is none. */
export function readOrigin(text: string): string | undefined {
  if (text === NONE) return NONE;
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\\\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, host } = new URL(text);
  return host ? `${protocol}//${host}` : undefined;
}

const LINK_LOCAL_OR_PRIVATE =
  /^(?:(?:10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3})+|(?:f[cd][\da-f]{2}|fe[89ab][\da-f]):.*)$/;
/** Nobody can register one: a single label, or below a name that is kept for local use. */
const LOCAL_NAME = /^[^.:]+$|\.(?:test|local)$/;

/** @param origin as `readOrigin` gives it */
export function isOwnPage(origin: string, { origins, hosts }: OwnPages): boolean {
  if (origins.has(origin)) return true;
  if (origin === NONE) return false;
  const { protocol, hostname } = new URL(origin);
  const name = bareHost(hostname).replace(/\.$/, '');
  if (isLoopback(name) || isAnyAddress(name)) return true;
  // What stands in other addresses is no name of a network: that of a browser's extension, for one.
  if (!/^https?:$/.test(protocol)) return false;
  return hosts.has(name) || LINK_LOCAL_OR_PRIVATE.test(name) || LOCAL_NAME.test(name);
}
