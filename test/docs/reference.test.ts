import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ERRORS } from '../../src/contract/error.ts';
import { runProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { PAGES, page, ROOT } from './pages.ts';

test('the generated parts of all pages are the output of "npm run docs"', async () => {
  const folder = await temporaryFolder();
  await cp(join(ROOT, 'src/docs'), folder, { recursive: true });
  const made = await runProgram([process.execPath, join(ROOT, '.config/docs.mjs'), folder]);
  expect(made).toMatchObject({ code: 0 });
  const marked = Object.entries(PAGES).filter(([, text]) => text.includes(': made by "npm run docs" -->'));
  expect(marked.length).toBeGreaterThan(5);
  for (const [path, text] of marked)
    expect(text).toBe(await readFile(join(folder, path.replace('src/docs/', '')), 'utf8'));
});

test('the exit codes page has every exit code', () => {
  for (const code of new Set([0, ...Object.values(ERRORS).map(({ exitCode }) => exitCode)])) {
    expect(page('reference/exit-codes.md')).toContain(`\n| ${code} | `);
  }
});
