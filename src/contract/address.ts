import { GatewayError } from './error.ts';
import { characters, shorten } from './text.ts';

/** The default port of a server (chosen). */
export const DEFAULT_PORT = 4477;
/** The default address of a server. */
export const DEFAULT_URL = `http://127.0.0.1:${DEFAULT_PORT}`;

const MAX_URL_LENGTH = 2048;

/**
 * Why the service rejects a text as an absolute http(s) address; undefined when it accepts it.
 *
 * @param example an address of the wanted kind
 */
export function urlProblem(text: string, example = 'http://localhost:3000/ipn'): string | undefined {
  if (text.length > MAX_URL_LENGTH && characters(text) > MAX_URL_LENGTH) {
    return `must have at most ${MAX_URL_LENGTH} characters (got ${characters(text)})`;
  }
  if (/[\s\p{Cc}]/u.test(text)) return 'must not contain spaces or control characters';
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    return `must be an absolute http or https address, such as ${example} (got "${shorten(text)}")`;
  }
  return undefined;
}

/** Whether a text is meant as an http or https address: not a command, a host or a mapping. */
export function isAddress(text: string): boolean {
  return /^https?:\/\//i.test(text);
}

/** An absolute http or https address. @throws GatewayError `invalid_fields` */
export function requireAddress(url: string | undefined, name: string): string {
  const problem = url === undefined ? 'is required' : urlProblem(url);
  if (url === undefined || problem) throw new GatewayError('invalid_fields', `${name} ${problem}`);
  return url;
}

/**
 * The user and the password in an address, as written, also if it is invalid, because its password has a character that
 * must be encoded; undefined if it has no password, or is too long.
 */
export function loginIn(text: string): { user: string; password: string } | undefined {
  if (!text.includes('@') || text.length > MAX_URL_LENGTH) return undefined;
  const authority = URL.canParse(text)
    ? /^\s*[a-z][a-z\d+.-]*:[/\\]*([^:/\\?#]*):([^/\\?#]+)@/i
    : /^\s*[a-z][a-z\d+.-]*:\/\/([^:]*):(.+)@/is;
  const [, user, password] = authority.exec(text) ?? [];
  return user === undefined || password === undefined ? undefined : { user, password };
}

/** An address without its password. */
export function withoutPassword(url: string): string {
  const login = loginIn(url);
  return login ? url.replace(`:${login.password}@`, () => ':…@') : url;
}

/** The credentials in an address, as curl sends them (observed with curl 7.88); undefined if it has none. */
export function basicCredentials(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { username, password } = new URL(url);
  if (username === '' && password === '') return undefined;
  return btoa(`${bytesOf(username)}:${bytesOf(password)}`);
}

/** The bytes of percent-encoded text, which need not be UTF-8, as characters. */
const bytesOf = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

/** The address that an IPN is fired at. @throws GatewayError `invalid_fields` */
export function requireReceiver(to: string | undefined, payment: { ipnUrl: string } | undefined): string {
  if (to !== undefined || payment) return requireAddress(to ?? payment?.ipnUrl, 'to');
  const expected = 'specify an address for the IPN, or a payment, whose ipn_url is then used';
  throw new GatewayError('invalid_fields', `to is required: ${expected}`);
}

const WORD = /[^\s\p{Cc}()<>[\]:;@\\,."]+/u.source;
const LOCAL_PART = new RegExp(String.raw`^(?:${WORD}(?:\.${WORD})*|"(?:[^"\\\r\n]|\\.)+")$`, 'u');
// Excludes characters, because V8 takes milliseconds to compile \p{L} with the flag i.
const LETTER = /[^\s\p{Cc}!-/:-@[-^`{-~]/u.source;
const LABEL = `${LETTER}(?:(?:${LETTER}|-)*${LETTER})?`;
const DOMAIN = new RegExp(String.raw`^(?:${LABEL}(?:\.${LABEL})*|\[[\d.a-fA-F:]+\])$`, 'u');

/**
 * Whether a text is an e-mail address as Laravel's rule `email` reads it, without comments and folding white space: a
 * domain needs no dot, and no part begins or ends with one (chosen: field-email-*).
 */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return LOCAL_PART.test(text.slice(0, Math.max(at, 0))) && DOMAIN.test(text.slice(at + 1));
}

/** Whether a server on this host listens on every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The address of a host and port. */
export function urlOf(host: string, port: number, isSecure = false): string {
  const name = isAnyAddress(host) ? '127.0.0.1' : host;
  return `http${isSecure ? 's' : ''}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

const LOOPBACK_NAME = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)$/;

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** A host name as written in certificates and headers; undefined for anything else, such as an IP address. */
export function hostName(text: string): string | undefined {
  if (/[:/?#@*%\\\s]/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  const { hostname } = new URL(`http://${text}`);
  return HOST_NAME.test(hostname) && !/^[\d.]+$/.test(hostname) ? hostname : undefined;
}

/** A host in lower case, without the brackets of an IPv6 address. */
export function bareHost(host: string): string {
  return host.toLowerCase().replace(/^\[|\]$/g, '');
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_NAME.test(bareHost(host));
}
