import type { Plugin } from 'vite';

const IDS = /\/src\/domain\/ids\.ts$/;
const ALPHABET = /^const (LOWER|UPPER) = '\w+';$/gm;

/** For `npm run test:flakes`: ids contain only characters that are frequent in the texts that tests search for. */
export const hostileIds: Plugin = {
  name: 'hostile-ids',
  // Runs before compilation, which may change the quotes.
  enforce: 'pre',
  transform: (code, id) => {
    if (!IDS.test(id)) return undefined;
    const alphabets = { LOWER: 'teazrodi4015', UPPER: 'TEAZRODI4015' };
    const changed = code.replace(
      ALPHABET,
      (_, name: keyof typeof alphabets) => `const ${name} = '${alphabets[name]}';`,
    );
    if (changed === code) throw new Error('ids.ts has no alphabets to replace');
    return { code: changed, map: null };
  },
};
