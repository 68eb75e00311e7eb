import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { LANES } from './lanes.ts';

const FOLDER = fileURLToPath(new URL('.', import.meta.url));

test('every test file is in exactly one lane', () => {
  // In Node 20 to 24, matchesGlob warns that it is experimental.
  vi.spyOn(process, 'emitWarning').mockReturnValue();
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.test.ts'))
    .map((file) => `test/${file}`);
  const lanesOf = (file: string) =>
    Object.keys(LANES).filter((name) => {
      const { include = [], exclude = [] } = LANES[name] ?? {};
      const fits = (globs: readonly string[]) => globs.some((glob) => matchesGlob(file, glob));
      return fits(include) && !fits(exclude);
    });
  const wrong = files.map((file) => [file, ...lanesOf(file)]).filter(({ length }) => length !== 2);
  expect(files.length).toBeGreaterThan(50);
  expect(wrong).toEqual([]);
});

test.each([
  ['a process', () => spawn('true')],
  ['a server', () => createServer().listen(0)],
  ['a socket', () => connect(9, '127.0.0.1')],
])('the unit lane rejects %s', (what, open) => {
  expect(open).toThrow(`${what} in the unit lane`);
});
