import { GatewayError } from './error.ts';

const MAX_URL_LENGTH = 2048;

/** Characters as people count them (code points), not bytes or UTF-16 units. */
export function characters(text: string): number {
  return /[\ud800-\udbff]/.test(text) ? [...text].length : text.length;
}

const PLAIN_HOST =
  /^(?:127\.0\.0\.1|[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.[a-z][a-z0-9]*(?:-[a-z0-9]+)*)*)(?::[1-5]?\d{1,4})?$/;

/** Whether a text is a host, or host and port, that any parser takes as it stands. False says nothing. */
export function isPlainHost(text: string): boolean {
  return PLAIN_HOST.test(text);
}

/** Why a text is no absolute http(s) address as the service wants it, or undefined when it is one. */
export function urlProblem(text: string): string | undefined {
  if (text.length > MAX_URL_LENGTH && characters(text) > MAX_URL_LENGTH) {
    return `may have at most ${MAX_URL_LENGTH} characters (got ${characters(text)})`;
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (/[\s\u0000-\u001f\u007f-\u009f]/.test(text)) return 'may not hold spaces or control characters';
  if (!/^https?:\/\/[^/?#]/i.test(text) || !URL.canParse(text)) {
    return `must be an absolute http or https address, such as http://localhost:3000/ipn (got "${shorten(text)}")`;
  }
  return undefined;
}

/** The beginning of a text that a message repeats. */
export function shorten(text: string): string {
  // By code points: half of a pair is no text.
  return text.length > 60 ? `${/^.{0,60}/su.exec(text)}…` : text;
}

/** An address that an IPN can go to. @throws GatewayError `invalid_fields` */
export function requireAddress(url: string | undefined, name = 'to'): string {
  if (url === undefined) {
    const expected = 'the address that the IPN goes to (or payment, whose ipn_url it is)';
    throw new GatewayError('invalid_fields', `${name} is required: ${expected}`);
  }
  const problem = urlProblem(url);
  if (problem) throw new GatewayError('invalid_fields', `${name} ${problem}`);
  return url;
}

const EMAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)+$/;

/** Whether a text has the form of an e-mail address: one @, a dotted domain, no white space. */
export function isEmail(text: string): boolean {
  return EMAIL.test(text);
}

/** Whether listening there is listening on every address of the machine. */
export function isAnyAddress(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

/** The address to reach a host and port at. */
export function urlOf(host: string, port: number, isSecure = false): string {
  const name = isAnyAddress(host) ? '127.0.0.1' : host;
  return `http${isSecure ? 's' : ''}://${name.includes(':') ? `[${name}]` : name}:${port}`;
}

const LOOPBACK_NAME = /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|::1)$/;

const HOST_NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/;

/** A host name as certificates and headers have it; undefined for what is none, such as an address. */
export function hostName(text: string): string | undefined {
  if (/[:/?#@*%\\\s]/.test(text) || !URL.canParse(`http://${text}`)) return undefined;
  const { hostname } = new URL(`http://${text}`);
  return HOST_NAME.test(hostname) && !/^[\d.]+$/.test(hostname) ? hostname : undefined;
}

/** A host name in lower case, an IPv6 address without its brackets. */
export function bareHost(host: string): string {
  return host.toLowerCase().replace(/^\[|\]$/g, '');
}

/** Whether an address to listen on can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_NAME.test(bareHost(host));
}

/** A value as an error shows it: as JSON, or only what it is, since one from outside may be of any size and depth. */
export function shortJson(value: unknown): string {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? JSON.stringify(shorten(value)) : String(JSON.stringify(value));
}
