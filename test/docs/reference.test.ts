import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runProgram } from '../helpers/child.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { PAGES, ROOT } from './pages.ts';

test('the generated parts of all pages are the output of "npm run docs"', async () => {
  const folder = await temporaryFolder();
  await cp(join(ROOT, 'src/docs'), folder, { recursive: true });
  const made = await runProgram([process.execPath, join(ROOT, '.config/docs.mjs'), folder]);
  expect(made).toMatchObject({ code: 0 });
  const marked = Object.entries(PAGES).filter(([, text]) => text.includes(': made by "npm run docs" -->'));
  expect(marked.length).toBeGreaterThan(4);
  for (const [path, text] of marked)
    expect(text).toBe(await readFile(join(folder, path.replace('src/docs/', '')), 'utf8'));
});
