import { describe, expect, it } from 'vitest';
import { auditCases } from '../../src/audit/audit.ts';
import type { MistakeName } from '../../src/audit/mistakes.ts';
import { isReportable } from '../../src/audit/vocabulary.ts';
import { auditOf } from '../helpers/auditable.ts';
import { IS_RELEASE, sample } from '../helpers/scope.ts';
import { codeIn, FIXES } from '../merchants/fixes.ts';
import { MUTANTS } from '../merchants/mutants.ts';
import { GOOD } from '../merchants/node-shop.ts';

const CHOSEN = sample(MUTANTS, (one) => MUTANTS.find(({ class: kind }) => kind === one.class) === one);

/** Mutants whose fix is a sentence without code, or has code for another place: the good handler counts as fixed. */
const IN_WORDS = [
  'a name with a quote breaks the query',
  'ten forgeries lock an order',
  'an unsigned failure marks a paid order',
  'a quote breaks the query',
  'a null character breaks the query',
  'a fatal error has status 200',
];

describe('a handler that lacks one check', () => {
  it('names a case that exists', () => {
    const names = auditCases().map(({ name }) => name);
    expect(MUTANTS.flatMap((one) => one.case ?? []).filter((name) => !names.includes(name))).toEqual([]);
  });

  it.concurrent.for(CHOSEN)(
    'fails, and passes with the code in the report, $class: $name',
    async ({ name, class: kind, case: found, handler }, { expect }) => {
      const flawed = { ...GOOD, ...handler };
      const only = IS_RELEASE || found === undefined ? kind : found;
      const { cases, mistakes } = await auditOf(flawed, { only: [only] });
      const guilty = cases.filter(({ verdict }) => isReportable(verdict));
      expect(guilty.map(({ class: failed }) => failed)).toContain(kind);
      if (found !== undefined) expect(guilty.map((one) => one.name)).toContain(found);

      const inWords = mistakes.filter((one) => !FIXES[one.name as MistakeName]);
      expect([name, inWords]).toEqual([name, IN_WORDS.includes(name) ? inWords : []]);
      if (IN_WORDS.includes(name)) return;
      let fixed = flawed;
      for (const { name: mistake, code } of mistakes) {
        fixed = { ...fixed, ...FIXES[mistake as MistakeName]?.(codeIn(code, 'Node'), fixed) };
      }
      const after = await auditOf(fixed, {
        only: [...guilty.map((one) => one.name), 'identifier-unknown'],
      });
      expect(after.cases.filter(({ verdict }) => verdict !== 'pass')).toEqual([]);
      // An unknown order must not break a fix.
      const unknown = after.cases.find((one) => one.name === 'identifier-unknown');
      expect(unknown?.observed).toMatch(/^answered [24]/);
    },
  );
});
