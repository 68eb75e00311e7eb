import { basename } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { PAGES } from '../docs/pages.ts';
import { run } from '../helpers/cli.ts';

afterEach(() => vi.unstubAllEnvs());

const cwd = process.cwd();
const pages = Object.entries(PAGES).filter(([path]) => path.startsWith('src/docs/'));

it('lists every page with its title', async () => {
  const titles = pages.map(([path, text]) => ({
    topic: basename(path, '.md'),
    title: /^# (.+)$/m.exec(text)?.[1],
    group: expect.stringMatching(/./),
  }));
  const { data } = JSON.parse((await run(['docs', '--json'], { cwd })).stdout);
  expect(new Set(data.map(({ topic }: { topic: string }) => topic)).size).toBe(pages.length);
  expect(data).toEqual(expect.arrayContaining(titles));
  const { stdout } = await run(['docs'], { cwd });
  expect(stdout).toMatch(/^Start here.*\n {2}existing +I have a shop already\n/);
  expect(stdout).toMatch(/^Test\n( {2}.*\n)* {2}ci +CI$/m);
});

it('prints every page unchanged, and with --json as text', async () => {
  for (const [path, text] of pages) {
    const topic = basename(path, '.md');
    const { stdout } = await run(['docs', topic, '--json'], { cwd });
    expect(JSON.parse(stdout)).toEqual({ topic, title: expect.stringMatching(/./), text });
  }
  expect((await run(['docs', 'reference/Files.md'], { cwd })).stdout).toBe(
    PAGES['src/docs/reference/files.md'],
  );
});

it('breaks the lines of a page between words in a terminal', async () => {
  vi.stubEnv('COLUMNS', '80');
  const { stdout } = await run(['docs', 'ci'], { cwd, isTerminal: true });
  const text = PAGES['src/docs/ci.md'] ?? '';
  expect(stdout.split(/\s+/).join(' ').trim()).toBe(text.split(/\s+/).join(' ').trim());
  const prose = stdout.replace(/^```[\s\S]*?^```$/gm, '').split('\n');
  expect(prose.filter((line) => line.length > 80 && !line.startsWith('|'))).toEqual([]);
  const code = /^```yaml[\s\S]*?^```$/m.exec(text)?.[0] ?? 'none';
  expect(stdout).toContain(code);
});

it.each([
  ['refund', 'emulated'],
  ['subscriptions', 'emulated'],
  ['two emulators', 'configuration'],
  ['shop already', 'existing'],
  ['Django', 'existing'],
  ['second emulator', 'configuration'],
  ['declined payment', 'troubleshooting'],
  ['what must my handler answer', 'troubleshooting'],
  ['where is my data', 'troubleshooting'],
  ['lost ipn', 'faults'],
  ['clock', 'time'],
])('a search for %s finds the page %s', async (words, topic) => {
  const { stdout } = await run(['docs', '--json', ...words.split(' ')], { cwd });
  expect(JSON.parse(stdout).data.map((one: { topic: string }) => one.topic)).toContain(topic);
});

it.each([
  ['troubleshoting', 'did you mean troubleshooting?'],
  ['xyzzy', 'List the pages with: '],
  ['constructor', 'List the pages with: '],
])('suggests a page for %s, or how to list them', async (topic, suggestion) => {
  const { code, stdout, stderr } = await run(['docs', topic], { cwd });
  expect([code, stdout]).toEqual([4, '']);
  expect(stderr).toContain(suggestion);
});
