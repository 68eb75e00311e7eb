import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { launchProgram } from '../helpers/child.ts';
import { LANGUAGES } from '../merchants/running.ts';
import { extentOf } from './trial.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Starts `npm run test:long`. */
const longRun = (...args: string[]) => launchProgram([process.execPath, here('run.mjs'), ...args]);

it('the shares of all trials add up to 100 %', () => {
  const files = readdirSync(here('trials'));
  const shares = files.flatMap((file) => {
    const text = readFileSync(here(`trials/${file}`), 'utf8');
    const found = [...text.matchAll(/share: (\d+)/g)].map(([, share]) => Number(share));
    return text.includes('of LANGUAGES') ? LANGUAGES.flatMap(() => found) : found;
  });
  expect(shares.reduce((sum, share) => sum + share, 0)).toBe(100);
});

it('a trial gets its share of the minutes, and must reach its minimum only in a whole run', () => {
  const plan = { short: 6, least: 1_000, share: 10 };
  expect(extentOf(plan, 0)).toEqual({ part: 0, least: 6, milliseconds: 0 });
  expect(extentOf(plan, 3)).toEqual({ part: 0.1, least: 1, milliseconds: 18_000 });
  expect(extentOf(plan, 60)).toEqual({ part: 1, least: 1_000, milliseconds: 360_000 });
});

it('a long run draws and prints a seed, and prints its table even if it is interrupted', async () => {
  const [first, second] = [longRun('--minutes', '2', 'races', 'egress'), longRun('--minutes', '1', 'none')];
  await first.until((stdout) => /✓.* trials /.test(stdout));
  first.child.kill('SIGINT');
  await Promise.all([first.ended, second.ended]);
  const seeds = [first, second].map(({ stdout }) => /--seed (\d+)/.exec(stdout())?.[1]);
  expect(seeds[0]).not.toBe(seeds[1]);
  const lines = first.stdout().split('\n');
  expect(lines).toContain('| Trial | Cases | Requests | Failures | Seconds |');
  expect(
    lines.filter((line) => /^\| (concurrent settlements,|IPN addresses) .* \| 0 \| \d+ \|$/.test(line)),
  ).not.toEqual([]);
  expect(lines.find((line) => line.endsWith(`; seed ${seeds[0]}`))).toMatch(/all failures 0/);
});
