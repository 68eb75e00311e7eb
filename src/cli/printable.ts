import { OBEYED_BY_TERMINALS } from '../contract/curl.ts';

/*
 * What merchants and receivers send may hold what a terminal obeys: escape sequences, and characters that turn the
 * direction of the text. None of it reaches a terminal (chosen): it is written as \u001b, which is also what it is in
 * JSON.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: as above
const COLOURS = /(\u001b\[(?:1|22|3[1-39])m)/;

/** A text of others, with its lines: no colour of it is ours. */
export function escaped(text: string): string {
  return text.replace(
    OBEYED_BY_TERMINALS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** A text as it may go to a terminal or a pipe: lines and our own colours stay as they are. */
export function printable(text: string): string {
  return text
    .split(COLOURS)
    .map((part, index) => (index % 2 ? part : escaped(part)))
    .join('');
}

/** A value in a line or a cell of its own: no line of it can pass for another one of ours. */
export function onOneLine(value: string): string {
  return escaped(value).replaceAll('\n', '\\u000a');
}
