import { createContext, runInContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { javaScriptText, javaScriptValue, phpText } from '../../src/http/test-texts/test-story.ts';
import { character } from '../helpers/characters.ts';

const NASTY = [...'\'"\\$`\n\u2028\u202e\0😀', '$' + '{x}', '\r\n', '</script>', '<!--', '?>', '*/'];
const text = fc
  .array(fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: character })), { maxLength: 12 })
  .map((parts) => parts.join(''));

const context = createContext({});
/** The value that a JavaScript engine would read. */
const evaluated = (source: string): unknown => runInContext(`(${source})`, context);

/** Reads a value like PHP: single quotes allow `\\` and `\'`. Double quotes allow these escapes, and `$` begins a variable. */
function readByPhp(source: string): string {
  const inner = source.slice(1, -1);
  if (source.startsWith("'")) {
    expect(inner.replace(/\\[\\']/g, '')).not.toMatch(/['\\]/);
    return inner.replace(/\\([\\'])/g, '$1');
  }
  expect(source).toMatch(/^".*"$/su);
  expect(inner.replace(/\\[\\"$nt]|\\u\{[0-9a-f]+\}/g, '')).not.toMatch(/["\\$]/);
  return inner.replace(/\\(?:u\{([0-9a-f]+)\}|(.))/g, (_, code: string | undefined, escaped: string) =>
    code === undefined
      ? ({ n: '\n', t: '\t' }[escaped] ?? escaped)
      : String.fromCodePoint(Number.parseInt(code, 16)),
  );
}

describe('a value in a generated test', () => {
  it('is unchanged in JavaScript, and is never a tag, line break or invisible character', () => {
    fc.assert(
      fc.property(text, (value) => {
        const source = javaScriptText(value);
        expect(evaluated(source)).toBe(value);
        expect(source).not.toMatch(/<\/|<!|[\n\r\u2028\u202e]/);
      }),
    );
  });

  it('is unchanged in PHP', () => {
    fc.assert(
      fc.property(text, (value) => {
        const source = phpText(value);
        expect(readByPhp(source)).toBe(value);
        expect(source).not.toMatch(/[\n\r\u2028\u202e\0]/);
      }),
    );
  });

  it('may be any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ noUnicodeString: false }), (value) => {
        const read = evaluated(`JSON.stringify(${javaScriptValue(value)})`);
        expect(JSON.parse(String(read))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});
