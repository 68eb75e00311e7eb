import { GatewayError } from './error.ts';

const MAX_URL_LENGTH = 2048;

/** Characters as people count them (code points), not bytes or UTF-16 units. */
export function characters(text: string): number {
  // Texts without surrogates, nearly all of them, need no second look.
  let count = text.length;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit >= 0xd800 && unit <= 0xdbff && index + 1 < text.length) {
      const next = text.charCodeAt(index + 1);
      if (next >= 0xdc00 && next <= 0xdfff) count--;
    }
  }
  return count;
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
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/**
 * An address that an IPN can go to.
 *
 * @throws GatewayError `invalid_fields`
 */
export function requireAddress(url: string | undefined): string {
  if (url === undefined) {
    throw new GatewayError(
      'invalid_fields',
      'to is required: the address that the IPN goes to (or payment, whose ipn_url it is)',
    );
  }
  const problem = urlProblem(url);
  if (problem) throw new GatewayError('invalid_fields', `to ${problem}`);
  return url;
}
