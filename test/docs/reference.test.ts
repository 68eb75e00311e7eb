import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { EXIT_CODES } from '../../src/cli/output.ts';
import { runProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { isGenerated, PAGES, page, ROOT } from './pages.ts';

test('the stored reference is the output of "npm run docs"', async () => {
  const folder = await temporaryFolder();
  const made = await runProgram([process.execPath, join(ROOT, '.config/docs.mjs'), folder]);
  expect(made).toMatchObject({ code: 0 });
  const names = (await readdir(folder)).sort();
  const stored = Object.keys(PAGES).filter((path) => isGenerated(PAGES[path] ?? ''));
  expect([...stored, 'src/docs/reference/llms.txt'].sort()).toEqual(
    names.map((name) => `src/docs/reference/${name}`),
  );
  for (const name of names) {
    const path = join(ROOT, 'src/docs/reference', name);
    expect(await readFile(path, 'utf8')).toBe(await readFile(join(folder, name), 'utf8'));
  }
});

test('the exit codes page has every exit code', () => {
  for (const code of new Set([0, ...Object.values(EXIT_CODES)])) {
    expect(page('reference/exit-codes.md')).toContain(`\n| ${code} | `);
  }
});
