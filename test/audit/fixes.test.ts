import { describe, expect, it } from 'vitest';
import { startLibrary } from '../helpers/library.ts';
import { sample } from '../helpers/scope.ts';
import { seedOfTest } from '../helpers/seed.ts';
import { codeIn } from '../merchants/fixes.ts';
import { SECRET } from '../merchants/node-shop.ts';
import { missing, startShopIn } from '../merchants/running.ts';

/*
 * The code that a report prints in PHP and Python, inserted into the shop that it is about. Node is in mutants.test.ts.
 * The fixes of the classes `K` and `once` are omitted, because these shops have no database.
 */

/** Where the code of a fix belongs: in the shop, at the line `fix: <place>`; two lines of code have two places. */
const PLACES: Readonly<Record<string, readonly string[]>> = {
  'signature-not-checked': ['first'],
  'fields-not-required': ['first'],
  'secret-known': ['first'],
  'headers-trusted': ['first'],
  'amount-not-compared': ['order'],
  'order-not-by-identifier': ['order'],
  'status-not-checked': ['order'],
  'no-token-in-ipn-url': ['initiate', 'order'],
  'token-not-checked': ['order'],
  'return-page-pays': ['return'],
  'secrets-shown': ['refuse'],
  'initiate-from-outside': ['initiate'],
};
const FLAWS = sample(
  ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I', 'J', 'L', 'M', 'splice', 'robustness'],
  (flaw) => flaw === 'D' || flaw === 'F',
);

/** Inserts code at one of the places of a program. */
function put(source: string, place: string, code: string): string {
  const [line = '', indent = ''] = new RegExp(`^( *)(?://|#) fix: ${place}$`, 'm').exec(source) ?? [];
  if (!line) throw new Error(`the shop has no place "${place}"`);
  return source.replace(line, () => `${code.replace(/^/gm, indent)}\n${line}`);
}

describe.each([
  ['php', 'PHP'],
  ['python', 'Python'],
] as const)('a shop in %s', (language, name) => {
  const why = missing(language);
  const here = why ? ` (not tried here: ${why})` : '';

  const audit = async (flaw: string, only: readonly string[], edit?: (source: string) => string) => {
    const sim = await startLibrary({ secretKey: SECRET, seed: seedOfTest() });
    const { url, stop } = await startShopIn(language, sim, flaw, edit);
    const byUrl = { orderUrl: `${url}/order`, probeUrl: `${url}/orders/{identifier}` };
    const report = await sim.audit({ ipnUrl: `${url}/ipn`, ...byUrl, paidWhen: '.status=paid', only });
    await stop();
    return report;
  };

  it.skipIf(why)(`passes without a flaw${here}`, async () => {
    const { cases } = await audit('', ['A', 'B', 'E', 'once']);
    expect(cases.filter(({ verdict }) => !['pass', 'skipped'].includes(verdict))).toEqual([]);
  });

  it.skipIf(why).each(FLAWS)(
    `fails with the flaw %s, and passes with the code in the report${here}`,
    async (flaw) => {
      const { mistakes } = await audit(flaw, [flaw]);
      expect(mistakes).not.toEqual([]);
      const applyFixes = (source: string) =>
        mistakes.reduce((text, { name: mistake, code: codes }) => {
          const code = codeIn(codes, name);
          const places = PLACES[mistake] ?? [];
          const parts = places.length > 1 ? code.split('\n') : [code];
          return places.reduce((fixed, place, index) => put(fixed, place, parts[index] ?? ''), text);
        }, source);
      const found = mistakes.flatMap(({ cases }) => cases);
      const { cases } = await audit(flaw, [...found, 'identifier-unknown'], applyFixes);
      expect(cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
      // An unknown order must not break a fix.
      const unknown = cases.find((one) => one.name === 'identifier-unknown');
      expect(unknown?.observed).toMatch(/^answered [24]/);
    },
  );
});
