import { Secrets } from '../contract/secrets.ts';

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

/** Masks the keys and the password of the address for IPNs in a mismatch. */
export function maskKeys(keys: readonly string[], ipnUrl?: string): Mask {
  const { mask } = secretsOf(keys, ipnUrl);
  return ({ expected, got, cause }) => ({ expected: mask(expected), got: mask(got), cause: mask(cause) });
}

function secretsOf(keys: readonly string[], ipnUrl: string | undefined): Secrets {
  const secrets = new Secrets(keys);
  secrets.learn(ipnUrl);
  return secrets;
}

/**
 * Masks keys, addresses, names of people and card numbers, for a report to share.
 *
 * @param ipnUrl the address for IPNs
 */
export function maskAll(keys: readonly string[], ipnUrl?: string): Mask {
  const secrets = secretsOf(keys, ipnUrl);
  const own = ipnUrl === undefined ? [] : [ipnUrl, new URL(ipnUrl).host, new URL(ipnUrl).hostname];
  const hidden = new Secrets(own, { show: () => HIDDEN });
  const mask = (text: string) =>
    RULES.reduce(
      (masked, [pattern, shown]) => masked.replace(pattern, shown),
      hidden.mask(secrets.mask(text)),
    );
  return ({ expected, got, cause }) => {
    const isHidden = OF_PERSONAL.test(expected) && got !== 'nothing';
    const masked = { expected: mask(expected), got: isHidden ? HIDDEN : mask(got) };
    return { ...masked, cause: isHidden ? masked.expected : mask(cause) };
  };
}
