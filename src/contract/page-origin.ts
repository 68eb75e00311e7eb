import { bareHost, isAnyAddress, isLoopback } from './address.ts';

/** Pages that may initiate from the browser. Pages on this machine and on private networks always may. */
export interface OwnPages {
  /** In the format of `readOrigin`. */
  origins: ReadonlySet<string>;
  hosts: ReadonlySet<string>;
}

/** The origin of pages without one: sandboxed frames, files, redirected POSTs. */
const NONE = 'null';

/** An origin as browsers write it, from `null` or an address without a path; undefined if invalid. */
export function readOrigin(text: string): string | undefined {
  if (text === NONE) return NONE;
  if (!/^[a-z][a-z\d+.-]*:\/\/[^/?#@\\\s]+\/?$/i.test(text) || !URL.canParse(text)) return undefined;
  const { protocol, host } = new URL(text);
  return host ? `${protocol}//${host}` : undefined;
}

const LINK_LOCAL_OR_PRIVATE =
  /^(?:(?:10|192\.168|169\.254|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d{1,3})+|(?:f[cd][\da-f]{2}|fe[89ab][\da-f]):.*)$/;
/** Names that cannot be registered: single labels, and names below a domain reserved for local use. */
const LOCAL_NAME = /^[^.:]+$|\.(?:test|local)$/;

/** @param origin an origin in the format of `readOrigin` */
export function isOwnPage(origin: string, { origins, hosts }: OwnPages): boolean {
  if (origins.has(origin)) return true;
  if (origin === NONE) return false;
  const { protocol, hostname } = new URL(origin);
  const name = bareHost(hostname).replace(/\.$/, '');
  if (isLoopback(name) || isAnyAddress(name)) return true;
  // In other schemes the host is not a network name: it may be the id of a browser extension.
  if (!/^https?:$/.test(protocol)) return false;
  return hosts.has(name) || LINK_LOCAL_OR_PRIVATE.test(name) || LOCAL_NAME.test(name);
}
