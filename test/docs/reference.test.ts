import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import * as sources from '../../.config/sources.ts';
import { ERRORS } from '../../src/contract/error.ts';
import { runJson } from '../helpers/cli.ts';
import { PAGES, page, ROOT } from './pages.ts';

/** What `npm run docs` writes to each page. */
const { filled } = await import(pathToFileURL(join(ROOT, '.config/parts.mjs')).href);

test('the generated parts of all pages are those that "npm run docs" writes', async () => {
  const { body: openapi } = await runJson(['openapi'], { cwd: ROOT });
  const marked = Object.values(PAGES).filter((text) => text.includes(': made by "npm run docs" -->'));
  expect(marked.length).toBeGreaterThan(5);
  for (const text of marked) expect(text).toBe(filled(text, sources, openapi));
});

test('the exit codes page has every exit code', () => {
  for (const code of new Set([0, ...Object.values(ERRORS).map(({ exitCode }) => exitCode)])) {
    expect(page('reference/exit-codes.md')).toContain(`\n| ${code} | `);
  }
});
