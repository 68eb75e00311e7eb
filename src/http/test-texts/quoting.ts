import { OBEYED_BY_TERMINALS } from '../../contract/curl.ts';

/*
 * Values of a payment may contain any text. In the source of a test they must not become code, and control characters
 * must be visible.
 */

/** A string as JavaScript source, also safe inside a `<script>`. */
export function javaScriptText(text: string): string {
  const written = JSON.stringify(text)
    .slice(1, -1)
    .replaceAll('\\"', '"')
    .replaceAll("'", "\\'")
    .replaceAll('<', text.search(/<[!/]/) < 0 ? '<' : '\\u003c')
    .replace(OBEYED_BY_TERMINALS, (character) => `\\u${hex(character)}`);
  return `'${written}'`;
}

/** A JSON value as JavaScript source. */
export function javaScriptValue(value: unknown): string {
  if (typeof value === 'string') return javaScriptText(value);
  if (Array.isArray(value)) return `[${value.map(javaScriptValue).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const entries = Object.entries(value).map(([name, inner]) => `${keyOf(name)}: ${javaScriptValue(inner)}`);
  return `{ ${entries.join(', ')} }`;
}

function keyOf(name: string): string {
  return /^[A-Za-z]\w*$/.test(name) ? name : `[${javaScriptText(name)}]`;
}

/** A string as PHP source: in single quotes, or in double quotes if it needs escapes. */
export function phpText(text: string): string {
  if (text.search(/[\n\r\t]/) < 0 && text.search(OBEYED_BY_TERMINALS) < 0) {
    return `'${text.replace(/[\\']/g, '\\$&')}'`;
  }
  const written = text
    .replace(/[\\"$]/g, '\\$&')
    .replaceAll('\n', '\\n')
    .replaceAll('\t', '\\t')
    .replace(OBEYED_BY_TERMINALS, (character) => `\\u{${hex(character)}}`);
  return `"${written}"`;
}

const hex = (character: string) => character.charCodeAt(0).toString(16).padStart(4, '0');
