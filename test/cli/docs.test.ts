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
  expect(stdout).toMatch(/^Start here.*\n {2}express +Start here: Express\n/);
  expect(stdout).toMatch(/^Test\n( {2}.*\n)* {2}ci +CI$/m);
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

it.each(['express', 'flask'])('%s is a page', async (topic) => {
  const { stdout } = await run(['docs', topic], { cwd });
  expect(stdout).toMatch(/^# Start here: /);
});

it.each([
  ['what is promised', 'promises'],
  ['what differs from a real gateway', 'fidelity'],
  ['how do I make it fail', 'faults'],
  ['where is my data', 'state'],
  ['how do I test without a browser?', 'without-a-browser'],
  ['how do I run it in CI', 'ci'],
  ['in a container', 'containers'],
  ['docker', 'containers'],
  ['with HTTPS', 'tls-and-proxy'],
  ['client whose host is fixed', 'tls-and-proxy'],
  ['how do I sign', 'receive-and-verify'],
  ['what does the IPN hold', 'receive-and-verify'],
  ['signature', 'receive-and-verify'],
  ['webhooks', 'receive-and-verify'],
  ['guarantees', 'promises'],
  ['401', 'troubleshooting'],
  ['how do I reset the state', 'state'],
])('finds the answer to: %s', async (question, topic) => {
  const { stdout } = await run(['docs', '--json', ...question.split(' ')], { cwd });
  expect(JSON.parse(stdout).data[0]).toMatchObject({ topic });
});

it.each(['flask --app', 'signature', '401', 'docker compose'])('finds %s in the pages', async (word) => {
  const { code, stdout } = await run(['docs', word, '--json'], { cwd });
  const { data } = JSON.parse(stdout);
  expect([code, data.length]).toEqual([0, expect.any(Number)]);
  expect(data[0]).toEqual({ topic: expect.any(String), heading: expect.any(String) });
  const [path] = pages.find(([name]) => basename(name, '.md') === data[0].topic) ?? [];
  for (const one of word.split(' ')) expect(PAGES[path ?? '']?.toLowerCase()).toContain(one);
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
