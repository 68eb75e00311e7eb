import { OBEYED_BY_TERMINALS } from '../contract/curl.ts';

/*
 * Text from merchants and receivers may contain escape sequences and characters that change the text direction. They are
 * never sent to a terminal (chosen), but written as in JSON, such as \u001b.
 */

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern searches for control characters
const COLOURS = /(\u001b\[(?:1|22|3[1-39])m)/;

/** Escapes text from outside. Line breaks stay, colours do not. */
export function escaped(text: string): string {
  return text.replace(
    OBEYED_BY_TERMINALS,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Escapes text for a terminal or a pipe. Line breaks and our own colours stay. */
export function printable(text: string): string {
  return text
    .split(COLOURS)
    .map((part, index) => (index % 2 ? part : escaped(part)))
    .join('');
}

/** Escapes a value in a line or cell, so that its line breaks cannot fake other lines. */
export function onOneLine(value: string): string {
  return escaped(value).replaceAll('\n', '\\u000a');
}
