import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { idsFor, readMarks } from '../src/contract/mark.ts';
import { LINES } from './helpers/conform.ts';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));
const IDS = LINES.map(({ id }) => id);

interface Mark {
  file: string;
  kind: string;
  /** The ids in the source, in which `*` matches anything. */
  ids: string[];
}

const marks: Mark[] = [];
for (const file of (await readdir(SRC, { recursive: true })).filter((name) => /\.tsx?$/.test(name))) {
  // A comment of several lines is one text.
  const text = (await readFile(`${SRC}${file}`, 'utf8')).replace(/\n\s*\* /g, ' ');
  for (const [, kind = '', ids = ''] of text.matchAll(
    /(?<!\w)\((documented|observed|chosen)(?:: ([^)]*))?\)/g,
  )) {
    marks.push({ file, kind, ids: ids ? ids.split(', ') : [] });
  }
  for (const [, ids = ''] of text.matchAll(/^ +lines:\s+'([^']+)',$/gm)) {
    marks.push({ file, kind: '', ids: ids.split(', ') });
  }
}

/**
 * The code that implements the service interface. Elsewhere, (chosen) marks our own decisions, to which no line
 * applies.
 */
const OF_THE_SERVICE = /^(wire\/|http\/service\/|http\/openapi)/;
/** Files that describe marks. */
const ABOUT_MARKS = ['contract/mark.ts'];

describe('every mark', () => {
  it('of documented or observed behaviour names its manifest lines', () => {
    const bare = marks.filter(
      ({ file, kind, ids }) =>
        !ids.length && !ABOUT_MARKS.includes(file) && (kind !== 'chosen' || OF_THE_SERVICE.test(file)),
    );
    expect(bare.map(({ file, kind }) => `${file}: (${kind})`)).toEqual([]);
  });

  it('names existing lines, at least one of them with its source', () => {
    const wrong = marks
      .filter(({ file }) => !ABOUT_MARKS.includes(file))
      .flatMap(({ file, kind, ids }) => {
        const found = idsFor(ids, IDS);
        const unknown = ids.filter((id) => !idsFor([id], IDS).length);
        const fits = LINES.some(({ id, source }) => found.includes(id) && source.kind === kind);
        return [
          ...unknown.map((id) => `${file}: there is no manifest line ${id}`),
          ...(ids.length && kind && !fits
            ? [`${file}: (${kind}: ${ids.join(', ')}) names no line with this source`]
            : []),
        ];
      });
    expect(wrong).toEqual([]);
  });

  it('contributes to naming every line except those about clients', () => {
    const named = new Set(idsFor([...new Set(marks.flatMap(({ ids }) => ids))], IDS));
    const unused = LINES.filter(({ id, area }) => area !== 'clients' && !named.has(id));
    expect(unused.map(({ id }) => id)).toEqual([]);
  });
});

describe('a text with marks', () => {
  it('is split into the text, its strongest source, and the lines', () => {
    expect(readMarks('Taken (observed: a-*, b). Made (documented: c). Ours (chosen).')).toEqual({
      text: 'Taken (observed). Made (documented). Ours (chosen).',
      source: 'documented',
      lines: ['a-*', 'b', 'c'],
    });
    expect(readMarks('Plain.')).toEqual({ text: 'Plain.', source: undefined, lines: [] });
  });

  it('names every id that matches its stars, each once', () => {
    expect(idsFor(['a-*', 'a-b', '*-z'], ['b', 'a-b', 'a-', 'xa-b', 'x-z'])).toEqual(['a-b', 'a-', 'x-z']);
  });
});
