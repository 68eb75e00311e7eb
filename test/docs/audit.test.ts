import { expect, test } from 'vitest';
import { AUDIT_CLASSES, AUDIT_PRESETS, AUDIT_VERDICTS } from '../../src/contract/audit.ts';
import { run } from '../helpers/binary.ts';
import { prepare } from '../merchants/running.ts';
import { fence, page } from './pages.ts';

/** The words of a command line, without the quotes and line breaks of a shell. */
const words = (line: string) =>
  [...line.replaceAll('\\\n', ' ').matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );

test('what the page of the audit says can be typed', async () => {
  const { cwd, env, url } = await prepare('node');
  const typed = (place: string, ...more: string[]) => {
    const [, , ...args] = words(fence(place, 'sh').replaceAll('http://localhost:3000', url));
    return run([...args, ...more], { cwd, env });
  };
  const audited = await typed('audit.md: Is our IPN handler safe?', '--only', 'A');
  expect([audited.code, audited.stdout]).toEqual([0, expect.stringContaining('8 cases: 8 pass')]);
  const first = await typed('README.md: gateway-sim', '--only', 'A');
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining('8 cases: 8 pass')]);
  const reconciled = await typed('audit.md: Do shop and gateway agree?');
  expect([reconciled.code, reconciled.stderr]).toEqual([0, '']);
});

test('the CI job takes options that there are', async () => {
  const [, line = ''] = /npx gateway-sim (audit .*)/.exec(fence('audit.md: In CI', 'yaml')) ?? [];
  const { url, cwd, env } = await prepare('node');
  const args = words(line.replace('http://localhost:3000', url));
  const explicit = ['--order-url', `${url}/order`, '--only', 'signature-missing'];
  expect((await run([...args, ...explicit], { cwd, env })).code).toBe(0);
});

test('every class, verdict and preset is told of', () => {
  const rows = [...Object.keys(AUDIT_CLASSES).filter((kind) => kind !== 'control')].map(
    (kind) => `| ${kind} | `,
  );
  const names = [...Object.keys(AUDIT_VERDICTS), ...Object.keys(AUDIT_PRESETS)].map(
    (name) => `| \`${name}\` | `,
  );
  for (const row of [...rows, ...names]) expect(page('audit.md')).toContain(row);
});
