import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseDocument } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { CARD_ACTIONS, CARD_TRANSITIONS } from '../../src/contract/card-status.ts';
import { FAULT_EFFECT_NAMES } from '../../src/contract/fault-effects.ts';
import { TAMPERINGS } from '../../src/contract/tampering.ts';
import { OUTCOMES } from '../../src/contract/vocabulary.ts';
import { INITIATE_NAMES } from '../../src/service/names.ts';
import { FENCES, isGenerated, PAGES, page, ROOT } from './pages.ts';

/** Generated like GitHub's. */
function anchorsOf(text: string): string[] {
  const headings = text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  );
}

describe.each(Object.entries(PAGES))('%s', (path, text) => {
  test('has no broken links', () => {
    const links = text.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/\]\((?!\w+:)([^)#]*)(?:#([^)]*))?\)/g);
    for (const [link, file = '', anchor] of links) {
      const target = file === '' ? path : normalize(join(dirname(path), file));
      expect([link, existsSync(join(ROOT, target))]).toEqual([link, true]);
      if (anchor === undefined) continue;
      expect([link, anchorsOf(PAGES[target] ?? '').includes(anchor)]).toEqual([link, true]);
    }
  });

  test('has no duplicate headings', () => {
    const anchors = anchorsOf(text);
    expect(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)).toEqual([]);
  });

  test('is short enough to read', () => {
    if (isGenerated(text)) return;
    const most = path === 'README.md' ? 150 : 200;
    expect(text.split('\n').length - 1).toBeLessThanOrEqual(most);
  });

  test('names the current version, and no package from a registry', () => {
    for (const [, version] of text.matchAll(/gateway-sim[- ](\d+\.\d+\.\d+)/g)) {
      expect(version).toBe(manifest.version);
    }
    if (!path.endsWith('CONTRIBUTING.md')) {
      expect(text).not.toMatch(/npm (?:i|install|add)\b[^\n`]* gateway-sim(?![\w/.-])|npx (?:-y|--yes)/);
    }
  });
});

test('every page can be reached from README.md', () => {
  const reached = new Set(['README.md']);
  for (const path of reached) {
    for (const [, file = ''] of (PAGES[path] ?? '').matchAll(/\]\((?!\w+:)([^)#]+\.md)/g)) {
      reached.add(normalize(join(dirname(path), file)));
    }
  }
  expect(Object.keys(PAGES).filter((path) => !reached.has(path) && path !== 'CHANGELOG.md')).toEqual([]);
});

test('llms.txt links every page', () => {
  const text = readFileSync(join(ROOT, 'src/docs/reference/llms.txt'), 'utf8');
  const linked = [...text.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path = '']) =>
    join('src/docs/reference', path),
  );
  const pages = Object.keys(PAGES).filter((path) => path.startsWith('src/docs/'));
  expect(linked.sort()).toEqual(pages.sort());
});

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

test.each<[string, string, readonly string[]]>([
  ['effect of a fault', 'faults.md', FAULT_EFFECT_NAMES.map((name) => `--${kebab(name)}`)],
  ['tampering', 'ipns-by-hand.md', TAMPERINGS.map((name) => `\`${name}\``)],
  ['outcome', 'without-a-browser.md', OUTCOMES.map((outcome) => `\`${outcome}@gateway-sim.test\``)],
  ['outcome', 'tests.md', OUTCOMES.map((outcome) => `\`${outcome}\``)],
  ['field', 'initiate.md', Object.values(INITIATE_NAMES).map((name) => `\`${name}\``)],
])('every %s is on the page %s', (_, name, words) => {
  const text = page(name);
  expect(words.filter((word) => !text.includes(word))).toEqual([]);
});

test('every code block is run or compared by a test', () => {
  const here = new URL('.', import.meta.url);
  const folders = [here, new URL('../recipes/', here)];
  const tests = folders
    .flatMap((folder) => readdirSync(folder).map((file) => new URL(file, folder)))
    .filter(({ pathname }) => pathname !== new URL(import.meta.url).pathname)
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n');
  const untested = FENCES.filter(({ place, code }) => {
    const [, file] = /^(?:\/\/|#) ([\w./-]+\.\w+)\n/.exec(code) ?? [];
    const [page = ''] = place.split(':');
    return ![file, place, page].some((name) => tests.includes(`'${name}'`));
  });
  expect(FENCES.length).toBeGreaterThan(30);
  expect(untested.map(({ place, language }) => `${place} (${language})`)).toEqual([]);
});

const YAML = FENCES.filter(({ language }) => language === 'yaml');

test.each(YAML)('the YAML in $place is valid', ({ code }) => {
  expect(parseDocument(code).errors).toEqual([]);
});

test('the states of a card match the table', () => {
  for (const [status, next] of Object.entries(CARD_TRANSITIONS)) {
    const cells = CARD_ACTIONS.map((action) => (next[action] === null ? 'rejected' : `\`${next[action]}\``));
    expect(page('cards.md')).toContain(`| \`${status}\` | ${cells.join(' | ')} |`);
  }
});
