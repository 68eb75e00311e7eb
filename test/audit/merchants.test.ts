import { describe, expect, it } from 'vitest';
import { failedClasses } from '../merchants/flaws.ts';
import { LANGUAGES, missing } from '../merchants/running.ts';

describe.each(LANGUAGES)('a shop in %s', (language) => {
  const why = missing(language);
  const here = why ? ` (not tried here: ${why})` : '';

  // The long run tries all flaws.
  it.skipIf(why).each(['A', 'E'])(`fails only class %s with that flaw${here}`, async (flaw) => {
    expect(await failedClasses(language, flaw)).toEqual([flaw]);
  });

  it.skipIf(why)(`passes without a flaw${here}`, async () => {
    expect(await failedClasses(language, '', 'A,B,E,once')).toEqual([]);
  });
});
