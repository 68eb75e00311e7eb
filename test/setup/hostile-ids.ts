import type { Plugin } from 'vite';

const IDS = /\/src\/domain\/ids\.ts$/;
const ALPHABET = /^const (LOWER|UPPER) = '\w+';$/gm;

/** For `npm run test:flakes`: ids consist of the letters and digits that occur in the tests' words and numbers. */
export const hostileIds: Plugin = {
  name: 'hostile-ids',
  // As written: a compiler may change the quotes.
  enforce: 'pre',
  transform: (code, id) => {
    if (!IDS.test(id)) return undefined;
    const alphabets = { LOWER: 'teazrodi4015', UPPER: 'TEAZRODI4015' };
    const changed = code.replace(
      ALPHABET,
      (_, name: keyof typeof alphabets) => `const ${name} = '${alphabets[name]}';`,
    );
    if (changed === code) throw new Error('ids.ts has no alphabets that could be replaced');
    return { code: changed, map: null };
  },
};
