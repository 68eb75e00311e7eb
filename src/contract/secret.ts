/** Whether two secrets are the same, in a time that tells nothing about where they differ. */
export function sameSecret(given: string, expected: string): boolean {
  if (given.length !== expected.length) return false;
  let difference = 0;
  for (let index = 0; index < given.length; index++) {
    difference |= given.charCodeAt(index) ^ expected.charCodeAt(index);
  }
  return difference === 0;
}

/** A secret as it may be shown: enough to tell it from others. */
export function masked(secret: string): string {
  return secret.length > 12 ? `${secret.slice(0, 8)}…${secret.slice(-2)}` : '…';
}

/** A shorter secret, such as `test`, stands in much that is none: masking it would garble every record. */
const SHORTEST_MASKED = 6;
/** The beginning of a secret counts as the secret from so many characters on: texts are cut off. */
const TELLING_PART = 16;

const ESCAPED_IN_HTML: Readonly<Record<string, string>> = {
  '&': 'amp',
  '<': 'lt',
  '>': 'gt',
  '"': 'quot',
  "'": '#39',
};

/** A character however it is written: as it is, percent-encoded, escaped in JSON or in HTML. */
function writtenAnyhow(character: string): string {
  const hex = character.charCodeAt(0).toString(16).padStart(2, '0');
  const anyCase = hex.replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`);
  const html = ESCAPED_IN_HTML[character];
  const plain = character.replace(/[^A-Za-z0-9]/, '\\$&');
  return `(?:\\\\?${plain}|%${anyCase}|\\\\u00${anyCase}${html === undefined ? '' : `|&${html};`})`;
}

function patternOf(secret: string): RegExp {
  const characters = [...secret].map(writtenAnyhow);
  const sure = characters.slice(0, TELLING_PART).join('');
  const rest = characters.slice(TELLING_PART).reduceRight((inner, one) => `(?:${one}${inner})?`, '');
  return new RegExp(sure + rest, 'g');
}

/** Masks secrets in texts, however they are written there; a text without any comes back as it is. */
export function textMask(secrets: readonly string[]): (text: string) => string {
  const sought = secrets
    .filter((secret) => secret.length >= SHORTEST_MASKED)
    .toSorted((one, other) => other.length - one.length)
    .map((secret) => ({ secret, pattern: patternOf(secret), start: secret.slice(0, TELLING_PART) }));
  return (text) => {
    const isEncoded = /[%\\&]/.test(text);
    return sought.reduce(
      (shown, { secret, pattern, start }) =>
        isEncoded || shown.includes(start) ? shown.replace(pattern, () => masked(secret)) : shown,
      text,
    );
  };
}
