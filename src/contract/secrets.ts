import { basicCredentials, loginIn } from './address.ts';
import { shorten } from './text.ts';

/*
 * Secrets, which nothing that people read may show: texts, pages, events, logs and commands to paste. Keys and tokens are
 * masked in JSON, too; addresses are as sent there.
 */

/** Masks the secrets in a text, and then cuts it to at most this number of characters. By default, it stays whole. */
export type Mask = (text: string, cut?: { most: number }) => string;

/** A masked secret: enough to recognize it, but not to use it, and without characters that a page or JSON would escape. */
export function masked(secret: string): string {
  const [, start, end] = /^([\w-]{8}).{3,}([\w-]{2})$/s.exec(secret) ?? [];
  return start === undefined ? '…' : `${start}…${end}`;
}

/** A card number with all but the last four digits masked (documented: card-record-masked-card-number). */
export function maskedCardNumber(number: string): string {
  return number.slice(-4).padStart(number.length, '*');
}

/** What our keys begin with, so that people and secret scanners recognize them as fake (chosen). */
export const KEY_PREFIXES = { publicKey: 'pub_sim_', secretKey: 'sec_sim_' } as const;

/** The keys of a pair that do not begin as ours do: they may be real. */
export const foreignKeys = (keys: Record<keyof typeof KEY_PREFIXES, string>) =>
  (['publicKey', 'secretKey'] as const).filter((name) => !keys[name].startsWith(KEY_PREFIXES[name]));

/** Shorter secrets, such as `test`, are common words. Masking them would garble every record. */
const SHORTEST_MASKED = 6;
/** A beginning of a secret that shows more than a mask. The shop may have cut off the rest. */
const TOO_MUCH = 12;
/** Maximum number of passwords (chosen), the newest: a shop with one for each order must not slow down the log. */
const KEPT_PASSWORDS = 100;

/** What is masked wherever it stands. */
interface Key {
  parts: Parts;
  /** What it may begin with: its first plain characters, or what encodes its first character. */
  heads: ReadonlySet<string>;
  /** The number of characters from which on its beginning is masked. */
  least: number;
  shown: string;
}

/** What is masked in addresses with one user. */
interface Login {
  /** The slashes, the user and the colon. */
  before: Key;
  passwords: Parts[];
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
    this.#maskKeys ??= masking([...this.#keys].map((key) => keyOf(key, this.#show(key))));
    return this.#maskKeys(text);
  };

  /** Masks keys, tokens and passwords. */
  readonly mask: Mask = (text, cut) => {
    const later = this.#later;
    this.#later = [];
    for (const value of later) this.learn(value);
    this.#maskAll ??= this.#maskOfAll();
    const shown = hideUnknown(this.#maskAll(text));
    return cut === undefined || shown.length <= cut.most ? shown : shorten(shown, cut.most - 1);
  };

  #maskOfAll(): (text: string) => string {
    const keys = [...this.#keys].map((key) => keyOf(key, this.#show(key)));
    const logins = new Map<string, Login>();
    for (const address of this.#addresses.values()) {
      const { user = '', password = '' } = loginIn(address) ?? {};
      const forms = formsOf(password);
      const anywhere = [...forms.filter(isUnmistakable), basicCredentials(address) ?? ''].filter(Boolean);
      keys.push(...anywhere.map((one) => keyOf(one, '…')));
      const login = logins.get(user) ?? {
        before: keyOf(`//${user}:`, '', Number.POSITIVE_INFINITY),
        passwords: [],
      };
      logins.set(user, login);
      login.passwords.push(...forms.map(partsOf));
    }
    return masking(keys, [...logins.values()]);
  }
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

/** @param least the number of characters from which on its beginning counts */
function keyOf(key: string, shown: string, least = TOO_MUCH): Key {
  const parts = partsOf(key);
  const special = parts.findIndex(({ forms }) => forms.length);
  const plain = parts.slice(0, special < 0 ? TOO_MUCH : Math.min(special, TOO_MUCH));
  const head = plain.map(({ text }) => text).join('');
  const heads = new Set(special === 0 ? ['\\', '%', '&', parts[0]?.text ?? ''] : [head]);
  return { parts, heads, least: Math.min(parts.length, least), shown };
}

/** A password as written, and decoded. */
function formsOf(password: string): string[] {
  try {
    return [...new Set([decodeURIComponent(password), password])];
  } catch {
    return [password];
  }
}

/** Whether a password cannot be a word, a number or a time of a record. */
const isUnmistakable = (password: string) =>
  password.length >= SHORTEST_MASKED && /[a-z]/i.test(password) && /[^a-z]/i.test(password);

/** A part of a text, and what is shown instead. */
interface Range {
  start: number;
  end: number;
  shown: string;
}

function masking(keys: readonly Key[], logins: readonly Login[] = []): (text: string) => string {
  return (text) => {
    const found: Range[] = [];
    for (const key of keys) findKey(text, key, found);
    if (logins.length) findPasswords(text, logins, found);
    if (!found.length) return text;
    // Of several at one place, the longest: a key may begin like another.
    found.sort((one, other) => one.start - other.start || other.end - one.end);
    let masked = '';
    let at = 0;
    for (const { start, end, shown } of found) {
      if (start < at) continue;
      masked += text.slice(at, start) + shown;
      at = end;
    }
    return masked + text.slice(at);
  };
}

/** Adds where a key stands, whole or cut off. */
function findKey(text: string, { parts, heads, least, shown }: Key, found: Range[]): void {
  for (const head of heads) {
    let at = text.indexOf(head);
    while (at >= 0) {
      const { count, ends } = follow(text, at, parts);
      const end = count < least ? at + 1 : Math.max(...ends);
      if (count >= least) found.push({ start: at, end, shown });
      at = text.indexOf(head, end);
    }
  }
}

const COLON = /:|%(?:25)*3a|\\u003a|&(?:amp;)*(?:#0*58|#x0*3a|colon);/gi;
/** The end of a text that was cut off, perhaps in the middle of an encoded character. */
const CUT = /((?:%(?:25)*[\da-f]?|\\+(?:u[\da-f]{0,3})?|&[#\w]{0,7})?)(?:$|…|\.{3})/iy;

/** Adds where a password stands: between a colon and an at sign; or cut off, behind its user. */
function findPasswords(text: string, logins: readonly Login[], found: Range[]): void {
  const all = logins.flatMap(({ passwords }) => passwords);
  for (const { 0: colon, index } of text.matchAll(COLON)) {
    const start = index + colon.length;
    for (const password of all) {
      const { count, ends } = follow(text, start, password);
      if (count < password.length) continue;
      const end = ends.find((one) => endsOf(text, one, AT).length > 0);
      if (end !== undefined) found.push({ start, end, shown: '…' });
    }
  }
  for (const { before, passwords } of logins) {
    const users: Range[] = [];
    findKey(text, before, users);
    for (const { end: start } of users) {
      for (const password of passwords) {
        const { count, ends } = follow(text, start, password);
        CUT.lastIndex = Math.max(...ends);
        const [cut, part = ''] = (count > 0 && CUT.exec(text)) || [];
        if (cut !== undefined) found.push({ start, end: Math.max(...ends) + part.length, shown: '…' });
      }
    }
  }
}

/** A character of a secret. Backslashes in a row are one, because their number depends on the encoding. */
interface Part {
  text: string;
  /** What it looks like in each encoding, if any changes it. */
  forms: readonly RegExp[];
}

type Parts = readonly Part[];

/** The newest parts: their patterns take long to make, and most secrets have the same ones. */
const PARTS = new Map<string, Part>();
const MAX_PARTS = 1_000;

function partsOf(text: string): Parts {
  return (text.match(/\\+|[^\\]/gu) ?? []).map((one) => {
    const part = PARTS.get(one) ?? { text: one, forms: /^[\w.-]$/.test(one) ? [] : formsIn(one) };
    if (PARTS.size >= MAX_PARTS) PARTS.clear();
    PARTS.set(one, part);
    return part;
  });
}

/** A backslash, which escapes a character in JSON. The JSON may be in a form. */
const BACKSLASH = '(?:\\\\|%(?:25)*5c)';
const ESCAPE = `${BACKSLASH}{0,16}`;
const NAMED: Readonly<Record<string, string>> = {
  '"': '|quot',
  '&': '|amp',
  "'": '|apos',
  '<': '|lt',
  '>': '|gt',
};

/**
 * The forms of a character that encodings change: as it is; percent-encoded, as in addresses and forms; escaped, as in
 * JSON, by PHP and for terminals; or as an HTML entity. Each also repeatedly, as JSON in a form.
 */
function formsIn(character: string): RegExp[] {
  if (character.startsWith('\\')) return [new RegExp(`${BACKSLASH}{1,16}`, 'iy')];
  const hex = (number = 0, width = 0) => number.toString(16).padStart(width, '0');
  const bytes = [...Buffer.from(character)].map((byte) => hex(byte, 2));
  const units = Array.from(character.split(''), (unit) => `u${hex(unit.charCodeAt(0), 4)}`);
  const point = character.codePointAt(0);
  const forms = [
    character.replace(/[^\p{L}\p{N}]/u, '\\$&'),
    ...(character === ' ' ? ['\\+'] : []),
    ...['%', '%25', '%2525', '%252525'].map((mark) => bytes.map((byte) => mark + byte).join('')),
    `&(?:amp;)*(?:#0*${point}|#x0*${hex(point)}${NAMED[character] ?? ''});`,
    units.join(ESCAPE),
  ];
  const any = `(?:${forms.join('|')})`;
  // Quoted for a shell: a mark ends the quotation, stands alone behind a backslash, and begins the next quotation.
  const quoted = character === "'" ? [`${any}${BACKSLASH}{1,16}${any}${ESCAPE}${any}`] : [];
  return [...forms, ...quoted].map((form) => new RegExp(ESCAPE + form, 'iy'));
}

const [AT] = partsOf('@');

/**
 * Reads a secret in a text.
 *
 * @returns the number of its characters that the text has, and where they may end: an encoding can be ambiguous
 */
function follow(text: string, start: number, parts: Parts): { count: number; ends: readonly number[] } {
  let ends: readonly number[] = [start];
  let count = 0;
  for (const part of parts) {
    const [only = 0] = ends;
    const further =
      ends.length === 1
        ? endsOf(text, only, part)
        : [...new Set(ends.flatMap((end) => endsOf(text, end, part)))];
    if (!further.length) break;
    ends = further;
    count++;
  }
  return { count, ends };
}

const NONE: readonly number[] = [];

/** Where a character that stands at a place may end. */
function endsOf(text: string, at: number, part: Part | undefined): readonly number[] {
  if (!part?.forms.length) return text[at] === part?.text ? [at + 1] : NONE;
  // Nearly all texts are something else.
  if (!text.startsWith(part.text, at) && !/[\\%&u+]/.test(text[at] ?? '')) return NONE;
  return part.forms.flatMap((form) => {
    form.lastIndex = at;
    return form.test(text) ? [form.lastIndex] : NONE;
  });
}

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
