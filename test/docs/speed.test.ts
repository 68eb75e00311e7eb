import { expect, test } from 'vitest';
import { page } from './pages.ts';

/** A file of the bench, in plain JavaScript. */
const { TARGETS }: { TARGETS: Record<string, object> } = await import(
  new URL('../bench/targets.mjs', import.meta.url).href
);

test('CONTRIBUTING.md has a row for every target, in the order of the bench', () => {
  const names = Object.values(TARGETS).flatMap((section) => Object.keys(section));
  const rows = [...page('.github/CONTRIBUTING.md').matchAll(/^\| ([^|]+) \|/gm)].map(([, what = '']) => what);
  expect(rows.filter((what) => names.includes(what))).toEqual(names);
});

test('CONTRIBUTING.md names the limiting factor of every section', () => {
  for (const section of Object.keys(TARGETS))
    expect(page('.github/CONTRIBUTING.md')).toContain(`\n- \`${section}\``);
});
