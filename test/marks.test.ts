import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { linesMatching } from '../src/http/openapi.ts';
import { LINES } from './helpers/conform.ts';

const SRC = fileURLToPath(new URL('../src/', import.meta.url));

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

describe('every mark', () => {
  it('of documented or observed behaviour names its manifest lines', () => {
    const bare = marks.filter(
      ({ file, kind, ids }) => !ids.length && (kind !== 'chosen' || OF_THE_SERVICE.test(file)),
    );
    expect(bare.map(({ file, kind }) => `${file}: (${kind})`)).toEqual([]);
  });

  it('names existing lines, at least one of them with its source', () => {
    const wrong = marks.flatMap(({ file, kind, ids }) => {
      const found = linesMatching(ids.join(', '));
      const unknown = ids.filter((id) => !linesMatching(id).length);
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

  it('contributes to naming every line except those about clients and those that prove a field', () => {
    const named = new Set(linesMatching([...new Set(marks.flatMap(({ ids }) => ids))].join(', ')));
    const unused = LINES.filter(({ id, area, proves }) => area !== 'clients' && !proves && !named.has(id));
    expect(unused.map(({ id }) => id)).toEqual([]);
  });
});

it('a pattern names every line that matches its stars, each once', () => {
  expect(linesMatching('initiate-live, initiate-sandbox, *-sand*')).toEqual(
    expect.arrayContaining(['initiate-sandbox', 'initiate-live']),
  );
});
