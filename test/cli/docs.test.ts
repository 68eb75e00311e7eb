import { basename } from 'node:path';
import { expect, it } from 'vitest';
import { PAGES } from '../docs/pages.ts';
import { run } from '../helpers/cli.ts';

const cwd = process.cwd();
const pages = Object.entries(PAGES).filter(([path]) => path.startsWith('src/docs/'));

it('lists every page with its title', async () => {
  const titles = pages.map(([path, text]) => ({
    topic: basename(path, '.md'),
    title: /^# (.+)$/m.exec(text)?.[1],
  }));
  const { data } = JSON.parse((await run(['docs', '--json'], { cwd })).stdout);
  expect(new Set(data.map(({ topic }: { topic: string }) => topic)).size).toBe(pages.length);
  expect(data).toEqual(expect.arrayContaining(titles));
  expect((await run(['docs'], { cwd })).stdout).toMatch(/^ci +CI$/m);
});

it('prints every page unchanged, and with --json as text', async () => {
  for (const [path, text] of pages) {
    const topic = basename(path, '.md');
    const { stdout } = await run(['docs', topic, '--json'], { cwd });
    expect(JSON.parse(stdout)).toEqual({ topic, title: expect.stringMatching(/./), text });
  }
  expect((await run(['docs', 'reference/Options.md'], { cwd })).stdout).toBe(
    PAGES['src/docs/reference/options.md'],
  );
});

it.each(['express', 'flask', 'signature', '401'])('finds %s in the pages', async (word) => {
  const { code, stdout } = await run(['docs', word, '--json'], { cwd });
  const { data } = JSON.parse(stdout);
  expect([code, data.length]).toEqual([0, expect.any(Number)]);
  expect(data[0]).toEqual({ topic: expect.any(String), heading: expect.any(String) });
  const [path] = pages.find(([name]) => basename(name, '.md') === data[0].topic) ?? [];
  expect(PAGES[path as keyof typeof PAGES]?.toLowerCase()).toContain(word);
});

it.each([
  ['troubleshoting', 'did you mean troubleshooting?'],
  ['xyzzy', 'List the pages with: '],
])('suggests a page for %s, or how to list them', async (topic, suggestion) => {
  const { code, stdout, stderr } = await run(['docs', topic], { cwd });
  expect([code, stdout]).toEqual([4, '']);
  expect(stderr).toContain(suggestion);
});
