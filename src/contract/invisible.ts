/*
 * Characters that nobody sees and that editors, shells and copied texts add.
 */

const NAMES: Readonly<Record<string, string>> = {
  '\0': 'a NUL character',
  '\t': 'a tab',
  '\n': 'a line break',
  '\r': 'a carriage return',
  ' ': 'a space',
  '\u00a0': 'a no-break space',
  '\u200b': 'a zero-width space',
  '\ufeff': 'a byte order mark',
};

const nameOf = (character: string) =>
  NAMES[character] ??
  `the invisible character U+${character.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** A text without invisible characters around it. */
export function withoutInvisible(text: string): string {
  return text.replace(/^[\p{Cc}\p{Cf}\p{Z}]+|[\p{Cc}\p{Cf}\p{Z}]+$/gu, '');
}

/** The invisible character in a text, such as `ends with a carriage return`; undefined if there is none. */
export function invisibleIn(text: string): string | undefined {
  const isInvisible = (character = '') => /[\p{Cc}\p{Cf}\p{Z}]/u.test(character);
  const characters = [...text];
  const [first = ''] = characters;
  const last = characters.at(-1) ?? '';
  if (isInvisible(first)) return `starts with ${nameOf(first)}`;
  if (isInvisible(last)) return `ends with ${nameOf(last)}`;
  // A space may belong to the text, and anything else does not.
  const inside = characters.find((one) => one !== ' ' && isInvisible(one)) ?? characters.find(isInvisible);
  return inside === undefined ? undefined : `contains ${nameOf(inside)}`;
}
