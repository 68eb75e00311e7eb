import { masked, textMask, waysToWrite } from '../system/secret.ts';

/** An expected value and the value received instead. */
export interface Mismatch {
  expected: string;
  got: string;
  /** Groups equal mismatches of different lines. */
  cause: string;
}

/** Hides secrets in a mismatch, before its values are shortened. */
export type Mask = (mismatch: Mismatch) => Mismatch;

const HIDDEN = '…';
/** Names of fields with data about a person or a card. */
const PERSONAL = String.raw`\w*(?:name(?:_on_card)?|holder|e?mail|phone|mobile|address|birth|title|cv[cv]2?|pin|ip)`;
/** A mismatch of such a field; it begins with the field's path. */
const OF_PERSONAL = new RegExp(
  String.raw`^(?:no field )?(?:\S*[.[])?${PERSONAL}\]?(?: ["\d]| like \/| of the type |$)`,
  'i',
);
/** A quotation mark in JSON (with one more backslash per level of JSON in JSON), in a form and in HTML. */
const MARK = String.raw`(?:\\*"|%22|&quot;|&#0*34;)`;
const COLON = String.raw`\s*(?::|%3A)\s*`;
/** An at sign as text, percent-encoded, in JSON and in HTML. */
const AT = String.raw`(?:@|%40|\\+u0040|&#0*64;|&#x0*40;|&commat;)`;
/** The HTML names of characters in keys, except those that every mask knows. */
const NAMED_IN_HTML: Readonly<Record<string, string>> = {
  _: '&(?:lowbar|UnderBar);',
  '+': '&plus;',
  '/': '&sol;',
  '=': '&equals;',
  '.': '&period;',
};

const RULES: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(String.raw`[\p{L}\p{N}._%+'-]+${AT}[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*`, 'giu'),
    `${HIDDEN}@${HIDDEN}`,
  ],
  // Up to the same quotation mark: quotation marks inside the value have one more backslash.
  [
    new RegExp(String.raw`((${MARK})${PERSONAL}\2${COLON}\2)(?:(?!(?<!\\|%5C)\2)[\s\S])*`, 'gi'),
    `$1${HIDDEN}`,
  ],
  [new RegExp(String.raw`(${MARK}${PERSONAL}${MARK}${COLON})[\d.+-]+`, 'gi'), `$1${HIDDEN}`],
  [new RegExp(String.raw`(\b${PERSONAL}(?:\]|%5D)?=(?!["'\\]))[^&\s"'<>\\;]+`, 'gi'), `$1${HIDDEN}`],
  // In HTML.
  [/(\bvalue=)(\\*["'])(?:(?!\2)[\s\S])*/gi, `$1$2${HIDDEN}`],
  [/(?<![\d.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g, HIDDEN],
  [
    /(?<![\w:])(?:[\da-f]{1,4}:){2,7}(?::[\da-f]{1,4})+(?![\w:])|(?<![\w:])(?:[\da-f]{1,4}:){7}[\da-f]{1,4}/gi,
    HIDDEN,
  ],
  // A telephone number, then a card number: digits in groups.
  [/\+\d(?:[ ()./-]*\d){6,}/g, HIDDEN],
  [/(?<!\d)\d(?:[ -]?\d){7,14}[ -]?(\d{4})(?![\d])/g, `${HIDDEN}$1`],
  [/\b((?:pub|sec)_)[A-Za-z0-9_]{8,}/g, `$1${HIDDEN}`],
];

/** The ways a response may write a character. Nested encodings are limited, since unlimited patterns are slow. */
function waysInAnswers(character: string): string[] {
  const code = character.charCodeAt(0);
  const hex = `0{0,5}${code.toString(16)}`;
  // Browsers also accept a character reference without its semicolon.
  const inHtml = [
    `&#0{0,5}${code}(?:;|(?!\\d))`,
    `&#[xX](?:${hex}|${hex.toUpperCase()})(?:;|(?![\\da-fA-F]))`,
    ...(NAMED_IN_HTML[character] ? [NAMED_IN_HTML[character]] : []),
  ];
  return waysToWrite(character)
    .flatMap((way) => {
      if (way.startsWith('%')) return way.replace('%', '%(?:25){0,3}');
      return way.startsWith('\\\\') ? way.replace('\\\\', '\\\\{1,7}') : way;
    })
    .concat(inHtml);
}

/**
 * A text in hexadecimal digits, and in Base64 at each of the three offsets, without the characters that depend on the
 * surrounding text.
 */
function encodings(text: string): string[] {
  const hex = Buffer.from(text).toString('hex');
  const inBase64 = [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + text)
      .toString('base64')
      .replace(/=+$/, '');
    const isCut = (before + Buffer.byteLength(text)) % 3 !== 0;
    const own = encoded.slice(Math.ceil((before * 4) / 3), isCut ? -1 : undefined);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [hex, hex.toUpperCase(), ...inBase64];
}

/** The ways to write a Base64 character, possibly after a line break as written in text, in JSON or in a form. */
function waysInLines(character: string): string[] {
  return waysInAnswers(character).map((way) => `(?:[\\r\\n]|\\\\{1,7}[rn]|%0[AaDd]){0,2}${way}`);
}

/** Masks keys in any encoding. */
export function keyMask(keys: readonly string[]): (text: string) => string {
  const plain = textMask([...new Set(keys)], masked, waysInAnswers);
  const encoded = textMask([...new Set(keys.flatMap(encodings))], masked, waysInLines);
  return (text) => encoded(plain(text));
}

/** Masks the keys in a mismatch. */
export function maskKeys(keys: readonly string[]): Mask {
  const mask = keyMask(keys);
  return ({ expected, got, cause }) => ({ expected: mask(expected), got: mask(got), cause: mask(cause) });
}

/**
 * Masks keys, addresses, names of people and card numbers, for a report to share.
 *
 * @param ipnUrl the address for IPNs
 */
export function maskAll(keys: readonly string[], ipnUrl?: string): Mask {
  const ofKeys = keyMask(keys);
  const own = ipnUrl === undefined ? [] : [ipnUrl, new URL(ipnUrl).host, new URL(ipnUrl).hostname];
  const maskOwn = textMask(own, () => HIDDEN);
  const mask = (text: string) =>
    RULES.reduce((masked, [pattern, shown]) => masked.replace(pattern, shown), maskOwn(ofKeys(text)));
  return ({ expected, got, cause }) => {
    const isHidden = OF_PERSONAL.test(expected) && got !== 'nothing';
    const masked = { expected: mask(expected), got: isHidden ? HIDDEN : mask(got) };
    return { ...masked, cause: isHidden ? masked.expected : mask(cause) };
  };
}
