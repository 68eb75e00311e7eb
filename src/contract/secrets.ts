import { basicCredentials, loginIn } from './address.ts';
import { shorten } from './text.ts';

/*
 * Secrets, which nothing that people read may show: texts, pages, events, logs and commands to paste. Keys and tokens are
 * masked in JSON, too; addresses are as sent there.
 */

/** Masks the secrets in a text, and then cuts it to at most this number of characters. By default, it stays whole. */
export type Mask = (text: string, most?: number) => string;

/** A masked secret: enough to recognize it, but not to use it, and without characters that a page or JSON would escape. */
export function masked(secret: string): string {
  const [, start, end] = /^([\w-]{8}).{3,}([\w-]{2})$/s.exec(secret) ?? [];
  return start === undefined ? '…' : `${start}…${end}`;
}

/** Shorter secrets, such as `test`, are common words. Masking them would garble every record. */
const SHORTEST_MASKED = 6;
/** A beginning of a secret that shows more than a mask. The shop may have cut off the rest. */
const TOO_MUCH = 12;
/** Maximum number of passwords (chosen), the newest: a shop with one for each order must not slow down the log. */
const KEPT_PASSWORDS = 20;

/** What to replace, as a pattern, and by what. */
interface Sought {
  pattern: string;
  shown: string;
}

/** The known secrets of an emulator or a command. More may become known at any time. */
export class Secrets {
  readonly #show: (secret: string) => string;
  readonly #keys = new Set<string>();
  /** The addresses with the newest passwords, by user and password. */
  readonly #addresses = new Map<string, string>();
  #later: Iterable<unknown>;
  #maskKeys: ((text: string) => string) | undefined;
  #maskAll: ((text: string) => string) | undefined;

  /**
   * @param show replaces a key
   * @param later values with addresses, which are read when the first text is masked: they may be many
   */
  constructor(
    keys: Iterable<string> = [],
    { show = masked, later = [] }: { show?: (secret: string) => string; later?: Iterable<unknown> } = {},
  ) {
    this.#show = show;
    this.#later = later;
    this.add(keys);
  }

  /** Adds keys and tokens. */
  add(keys: Iterable<string>): void {
    for (const key of keys) {
      if (key.length < SHORTEST_MASKED || this.#keys.has(key)) continue;
      this.#keys.add(key);
      this.#maskKeys = this.#maskAll = undefined;
    }
  }

  /** Adds the passwords of all addresses in a value: a text, or an object or list with texts. */
  learn(value: unknown, depth = 8): void {
    if (typeof value === 'object' && value !== null && depth > 0) {
      for (const inner of Object.values(value)) this.learn(inner, depth - 1);
    }
    const login = typeof value === 'string' && loginIn(value);
    if (!login) return;
    const id = `${login.user}:${login.password}`;
    if (this.#addresses.has(id)) return;
    this.#addresses.set(id, value);
    const [oldest] = this.#addresses.keys();
    if (this.#addresses.size > KEPT_PASSWORDS && oldest !== undefined) this.#addresses.delete(oldest);
    this.#maskAll = undefined;
  }

  /** Masks keys and tokens. For records, whose addresses are as sent. */
  readonly maskKeys = (text: string): string => {
    this.#maskKeys ??= replacing(soughtFor([...this.#keys], this.#show));
    return this.#maskKeys(text);
  };

  /** Masks keys, tokens and passwords. */
  readonly mask: Mask = (text, most) => {
    const later = this.#later;
    this.#later = [];
    for (const value of later) this.learn(value);
    this.#maskAll ??= replacing([
      ...soughtFor([...this.#keys], this.#show),
      ...soughtInAddresses([...this.#addresses.values()]),
    ]);
    const shown = hideUnknown(this.#maskAll(text));
    return most === undefined || shown.length <= most ? shown : shorten(shown, most - 1);
  };
}

/** Masks secrets in all texts of a value, names of properties included. */
export function maskedIn<Value>(value: Value, mask: (text: string) => string): Value;
export function maskedIn(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => maskedIn(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, inner]) => [mask(name), maskedIn(inner, mask)]);
  return Object.fromEntries(entries);
}

/** Replaces what it finds in one pass, the first in the list first. */
function replacing(sought: readonly Sought[]): (text: string) => string {
  if (!sought.length) return (text) => text;
  const pattern = new RegExp(sought.map((one) => `(${one.pattern})`).join('|'), 'g');
  return (text) =>
    text.replace(pattern, (_, ...groups) => {
      const which = groups.findIndex((one) => one !== undefined);
      return sought[which]?.shown ?? '';
    });
}

/** Secrets anywhere, whole or cut off. Longer ones and whole ones first, because one may be the beginning of another. */
function soughtFor(secrets: readonly string[], show: (secret: string) => string): Sought[] {
  const longest = secrets.toSorted((one, other) => other.length - one.length);
  return [
    ...longest.map((secret) => ({ pattern: spelled(secret).join(''), shown: show(secret) })),
    ...longest
      .filter(({ length }) => length > TOO_MUCH)
      .map((secret) => ({ pattern: beginningOf(secret, TOO_MUCH), shown: show(secret) })),
  ];
}

/**
 * The passwords of addresses: between the colon and the at sign, also cut off; in the Authorization header; and anywhere,
 * unless they may be words.
 */
function soughtInAddresses(addresses: readonly string[]): Sought[] {
  const logins = addresses.flatMap((address) => {
    const { user, password } = loginIn(address) ?? {};
    return user === undefined || password === undefined
      ? []
      : formsOf(password).map((form) => ({ user, form, credentials: basicCredentials(address) }));
  });
  if (!logins.length) return [];
  const anywhere = logins.flatMap(({ form, credentials }) => [
    ...(isUnmistakable(form) ? [spelled(form).join('')] : []),
    ...(credentials === undefined ? [] : [beginningOf(credentials, Math.min(TOO_MUCH, credentials.length))]),
  ]);
  const whole = logins.map(({ form }) => spelled(form).join(''));
  // Only behind one of the users: what follows a colon may be a port.
  const users = new Set(logins.map(({ user }) => spelled(`//${user}:`).join('')));
  const begun = logins.map(({ form }) => beginningOf(form, 1));
  const cut = `(?<=${[...users].join('|')})(?:${begun.join('|')})${PART}(?=$|…|\\.{3})`;
  const inAddress = `(?<=${COLON})(?:(?:${whole.join('|')})(?=${AT})|${cut})`;
  return [{ pattern: [inAddress, ...anywhere].join('|'), shown: '…' }];
}

/** A part of an encoded character, which a cut leaves. */
const PART = '(?:%(?:25)*[\\da-fA-F]?|\\\\+(?:u[\\da-fA-F]{0,3})?|&[#\\w]{0,7})?';

/** A password decoded, which finds it encoded, too; and as written, if that also encodes what needs no encoding. */
function formsOf(password: string): string[] {
  try {
    const plain = decodeURIComponent(password);
    return new RegExp(`^${spelled(plain).join('')}$`).test(password) ? [plain] : [plain, password];
  } catch {
    return [password];
  }
}

/** Whether a password cannot be a word, a number or a time of a record. */
const isUnmistakable = (password: string) =>
  password.length >= SHORTEST_MASKED && /[a-z]/i.test(password) && /[^a-z]/i.test(password);

/** The longest beginning of a text that has at least this number of characters, as a pattern. */
function beginningOf(text: string, least: number): string {
  const all = spelled(text);
  const rest = all.slice(least).reduceRight((further, one) => `(?:${one}${further})?`, '');
  return all.slice(0, least).join('') + rest;
}

/**
 * Patterns for the characters of a text in every encoding: as they are; percent-encoded, as in addresses and forms;
 * escaped, as in JSON, by PHP and for terminals; as HTML entities; and quoted for a shell. Each also repeatedly, as in
 * JSON in a form. Nothing is tried in more than one way, so that a hostile text is searched quickly.
 */
function spelled(text: string): string[] {
  const parts = text.match(/\\+|[^\\]/gu) ?? [];
  return parts.map((part, index) => {
    if (part.startsWith('\\')) return `${BACKSLASH}+`;
    // No encoding changes these.
    if (/[\w-]/.test(part)) return part;
    if (part === '.') return '\\.';
    if (parts[index - 1]?.startsWith('\\')) return inAnyEncoding(part, '');
    return inAnyEncoding(part, index === 0 ? `${BACKSLASH}{0,3}` : `${BACKSLASH}*`);
  });
}

/** What escapes a character in JSON, which may itself be in a form. */
const BACKSLASH = '(?:\\\\|%(?:25)*5[cC])';

/** @param before may be before the character */
function inAnyEncoding(character: string, before: string): string {
  const point = character.codePointAt(0) ?? 0;
  const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
  const entity = [`#0*${point}`, `#[xX]0*${hex(point)}`, ...(ENTITIES[character] ?? [])].join('|');
  const ways = [
    character.replace(/[$()*+/?[\]^{|}]/, '\\$&'),
    [...Buffer.from(character)].map((byte) => `%(?:25)*${hex(byte, 2)}`).join(''),
    units.map((unit) => `u${hex(unit, 4)}`).join(BACKSLASH),
    `&(?:amp;)*(?:${entity});`,
    ...(character === ' ' ? ['\\+'] : []),
  ];
  const one = `(?:${ways.join('|')})`;
  // A quotation mark ends the quotation of a shell, stands alone, and begins the next one.
  return character === "'" ? `${before}${one}(?:${BACKSLASH}+${one}{2})?` : before + one;
}

/** A number in hexadecimal digits of either case, as a pattern. */
const hex = (number: number, width = 1): string =>
  number
    .toString(16)
    .padStart(width, '0')
    .replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);

const ENTITIES: Readonly<Record<string, readonly string[]>> = {
  '"': ['quot'],
  '&': ['amp'],
  "'": ['apos'],
  '<': ['lt'],
  '>': ['gt'],
};

const COLON = inAnyEncoding(':', '');
const AT = inAnyEncoding('@', `${BACKSLASH}*`);

const PASSWORD = /(\/\\?\/[^\s/?#@:"'<>\\]*:)[^\s/?#@"'<>\\]*@/g;
const ENCODED_PASSWORD = /(%2F%2F(?:(?!%2F|%40|%3A)[\w.~!*'()%-])*%3A)(?:(?!%2F|%40)[\w.~!*'()%-])*%40/gi;

/** Masks the passwords of addresses that were never read, such as in a broken body or in a response of the shop. */
function hideUnknown(text: string): string {
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
