import { masked, textMask, waysToWrite } from '../contract/secret.ts';
import type { Mismatch } from './expectation.ts';

/** What may not be told to others: the keys, and the address by which IPNs reached this machine. */
export interface Private {
  keys: readonly string[];
  ipnUrl?: string | undefined;
}

const HIDDEN = '…';
/** What a field is called that holds something about a person or a card. */
const PERSONAL = String.raw`\w*(?:name(?:_on_card)?|holder|e?mail|phone|mobile|address|birth|title|cv[cv]2?|pin|ip)`;
/** A mismatch of such a field, with its path at the beginning. */
const OF_PERSONAL = new RegExp(
  String.raw`^(?:no field )?(?:\S*[.[])?${PERSONAL}\]?(?: ["\d]| like \/| of the type |$)`,
  'i',
);
/** A quotation mark of JSON, which has a backslash more each time that JSON stands in JSON; in a form, and in a page. */
const MARK = String.raw`(?:\\*"|%22|&quot;|&#0*34;)`;
const COLON = String.raw`\s*(?::|%3A)\s*`;
/** Of percent-encoding, of JSON and of HTML. */
const AT = String.raw`(?:@|%40|\\+u0040|&#0*64;|&#x0*40;|&commat;)`;

const RULES: readonly (readonly [RegExp, string])[] = [
  [
    new RegExp(String.raw`[\p{L}\p{N}._%+'-]+${AT}[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*`, 'giu'),
    `${HIDDEN}@${HIDDEN}`,
  ],
  // Up to the same quotation mark: those of the value have a backslash more.
  [
    new RegExp(String.raw`((${MARK})${PERSONAL}\2${COLON}\2)(?:(?!(?<!\\|%5C)\2)[\s\S])*`, 'gi'),
    `$1${HIDDEN}`,
  ],
  [new RegExp(String.raw`(${MARK}${PERSONAL}${MARK}${COLON})[\d.+-]+`, 'gi'), `$1${HIDDEN}`],
  [new RegExp(String.raw`(\b${PERSONAL}(?:\]|%5D)?=(?!["'\\]))[^&\s"'<>\\;]+`, 'gi'), `$1${HIDDEN}`],
  // In a page.
  [/(\bvalue=)(\\*["'])(?:(?!\2)[\s\S])*/gi, `$1$2${HIDDEN}`],
  [/(?<![\d.])(?!127\.|0\.0\.0\.0)(?:\d{1,3}\.){3}\d{1,3}(?![\d.])/g, HIDDEN],
  [
    /(?<![\w:])(?:[\da-f]{1,4}:){2,7}(?::[\da-f]{1,4})+(?![\w:])|(?<![\w:])(?:[\da-f]{1,4}:){7}[\da-f]{1,4}/gi,
    HIDDEN,
  ],
  // A telephone number, then that of a card: digits in groups.
  [/\+\d(?:[ ()./-]*\d){6,}/g, HIDDEN],
  [/(?<!\d)\d(?:[ -]?\d){7,14}[ -]?(\d{4})(?![\d])/g, `${HIDDEN}$1`],
  [/\b((?:pub|sec)_)[A-Za-z0-9_]{8,}/g, `$1${HIDDEN}`],
];

/** As texts in texts have it: encoded a few times, and at most so often, since a pattern without an end takes long. */
function waysInAnswers(character: string): string[] {
  const code = character.charCodeAt(0);
  const hex = `0{0,5}${code.toString(16)}`;
  // Browsers take a number without its semicolon, too.
  const inHtml = [
    `&#0{0,5}${code}(?:;|(?!\\d))`,
    `&#[xX](?:${hex}|${hex.toUpperCase()})(?:;|(?![\\da-fA-F]))`,
  ];
  return waysToWrite(character)
    .flatMap((way) => {
      if (way.startsWith('%')) return way.replace('%', '%(?:25){0,3}');
      return way.startsWith('\\\\') ? way.replace('\\\\', '\\\\{1,7}') : way;
    })
    .concat(inHtml);
}

/** A text in Base64, wherever it begins in what is encoded: without the characters that what is around it decides, too. */
function inBase64(text: string): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.from('\0'.repeat(before) + text)
      .toString('base64')
      .replace(/=+$/, '');
    const isCut = (before + Buffer.byteLength(text)) % 3 !== 0;
    const own = encoded.slice(Math.ceil((before * 4) / 3), isCut ? -1 : undefined);
    return [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });
}

/** A line may end before each character of Base64, in JSON, in a form and as it is. */
function waysInLines(character: string): string[] {
  return waysInAnswers(character).map((way) => `(?:[\\r\\n]|\\\\{1,7}[rn]|%0[AaDd]){0,2}${way}`);
}

/** Masks keys, however an answer writes them. */
export function keyMask(keys: readonly string[]): (text: string) => string {
  const plain = textMask([...new Set(keys)], masked, waysInAnswers);
  const encoded = textMask([...new Set(keys.flatMap(inBase64))], masked, waysInLines);
  return (text) => encoded(plain(text));
}

/** Masks what others may not read, before anything of it is cut off: keys, addresses and names of people, numbers of cards. */
export function maskFor({ keys, ipnUrl }: Private): (mismatch: Mismatch) => Mismatch {
  const maskKeys = keyMask(keys);
  const own = ipnUrl === undefined ? [] : [ipnUrl, new URL(ipnUrl).host, new URL(ipnUrl).hostname];
  const maskOwn = textMask(own, () => HIDDEN);
  const mask = (text: string) =>
    RULES.reduce((masked, [pattern, shown]) => masked.replace(pattern, shown), maskOwn(maskKeys(text)));
  return ({ expected, got, cause = expected }) => {
    const isHidden = OF_PERSONAL.test(expected) && got !== 'nothing';
    const masked = { expected: mask(expected), got: isHidden ? HIDDEN : mask(got) };
    return { ...masked, cause: isHidden ? masked.expected : mask(cause) };
  };
}
