import { describe, expect, it } from 'vitest';
import { convicted, FLAWS } from '../merchants/flaws.ts';
import { LANGUAGES, missing, prepare } from '../merchants/running.ts';

/** All others are in the long run. */
const HERE = ['A', 'E'];

describe.each(LANGUAGES)('a shop in %s', (language) => {
  const why = missing(language);
  const here = why ? ` (not tried here: ${why})` : '';

  it.skipIf(why).each(HERE)(`that is flawed is convicted of %s${here}`, async (flaw) => {
    expect(await convicted(language, flaw)).toEqual([flaw]);
  });

  it.skipIf(why)(`that is good is convicted of nothing${here}`, async () => {
    expect(await convicted(language, '', 'A,B,E,once')).toEqual([]);
  });
});

describe('orders and looks by commands', () => {
  const script = (address: string, method: string) =>
    `"${process.execPath}" -e 'fetch(process.argv[1], { method: "${method}" }).then((a) => a.text()).then((t) => console.log(t))' ${address}`;

  it.each([
    ['', 0],
    ['E', 1],
  ])('tell as much: flaw "%s"', async (flaw, code) => {
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

it('has a twin for every class but the control', () => {
  expect(FLAWS).toHaveLength(16);
});

it('tells which request ended a shop that nobody watches', async () => {
  const { audit } = await prepare('node', 'dies');
  const { code, stdout } = await audit(['--only', 'truncated', '--only', 'slow-body']);
  expect(code).toBe(1);
  expect(stdout).toMatch(/FAIL truncated[\s\S]*probably crashed your shop/);
  expect(stdout).toContain('the shop has crashed: nothing listens at');
});
