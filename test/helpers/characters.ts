import fc from 'fast-check';

/**
 * Any Unicode character. ASCII characters, and characters that JSON or HTML escapes, are more frequent. fast-check's
 * own `binary` and `grapheme` list all of Unicode first, which takes each worker two seconds.
 */
export const character: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...'\0\t\n\r"\'\\<>&%+=é€\u2028😀'),
  fc.integer({ min: 0x20, max: 0x7e }).map(String.fromCodePoint),
  fc.integer({ min: 0, max: 0xd7ff }).map(String.fromCodePoint),
  fc.integer({ min: 0xe000, max: 0x10ffff }).map(String.fromCodePoint),
);
