import { describe, expect, it } from 'vitest';
import { FLAWS, failedClasses } from '../merchants/flaws.ts';
import { LANGUAGES, missing, prepare } from '../merchants/running.ts';

/** The long run has all flaws. */
const HERE = ['A', 'E'];

describe.each(LANGUAGES)('a shop in %s', (language) => {
  const why = missing(language);
  const here = why ? ` (not tried here: ${why})` : '';

  it.skipIf(why).each(HERE)(`fails only class %s with that flaw${here}`, async (flaw) => {
    expect(await failedClasses(language, flaw)).toEqual([flaw]);
  });

  it.skipIf(why)(`passes without a flaw${here}`, async () => {
    expect(await failedClasses(language, '', 'A,B,E,once')).toEqual([]);
  });
});

describe('commands for orders and probes', () => {
  const script = (address: string, method: string) =>
    `"${process.execPath}" -e 'fetch(process.argv[1], { method: "${method}" }).then((a) => a.text()).then((t) => console.log(t))' ${address}`;

  it.each([
    ['', 0],
    ['E', 1],
  ])('give the same result as URLs: flaw "%s"', async (flaw, code) => {
    const { audit, url } = await prepare('node', flaw);
    const by = [
      ...['--order-cmd', script(`${url}/order`, 'POST')],
      ...['--probe-cmd', script(`${url}/orders/{identifier}`, 'GET')],
    ];
    const ended = await audit(['--only', 'other-ipn-to-order-url'], by);
    expect([ended.code, ended.stderr.match(/\[2\/2\] .*/)?.[0]]).toEqual([
      code,
      `[2/2] ${code ? 'fail    ' : 'pass    '} other-ipn-to-order-url`,
    ]);
  });
});

it('every class except the control has a flawed shop', () => {
  expect(FLAWS).toHaveLength(16);
});

it('an audit reports which request crashed an unsupervised shop', async () => {
  const { audit } = await prepare('node', 'dies');
  const { code, stdout } = await audit(['--only', 'truncated', '--only', 'slow-body']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/FAIL truncated[\s\S]*probably crashed your shop/);
  expect(stdout).toContain('the shop has crashed: nothing listens at');
});
