import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { OBEYED_BY_TERMINALS } from '../../src/contract/curl.ts';
import type { Payment } from '../../src/domain/state.ts';
import { testsOf } from '../../src/http/payment-as-test.ts';
import { dialect } from '../../src/wire/documented/service.ts';
import { character } from '../helpers/characters.ts';
import { pendingPayment, state } from '../helpers/records.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

const RUNNERS = ['Vitest', 'PHPUnit', 'pytest'];

const PENDING = pendingPayment(state());
const textsOf = (change: Partial<Payment>) =>
  testsOf({ ...PENDING, ...change }, dialect.merchant).map(({ text }) => text);

describe('a payment as a test', () => {
  it.each([
    ['succeeded', /(\.|->)approve\(/, 'http://127.0.0.1:4/thanks?order=1', true],
    ['canceled', /(\.|->)cancel\(/, 'http://127.0.0.1:4/cart', false],
    ['failed', /(\.|->)fail\(/, 'http://127.0.0.1:4/cart', false],
  ] as const)('settles the same way and expects the same (%s)', (status, settles, redirect, isIpnSent) => {
    const texts = textsOf({ status });
    expect(texts).toHaveLength(RUNNERS.length);
    for (const text of texts) {
      expect(text).toMatch(settles);
      expect(text.split('\n').find((line) => line.includes('redirectUrl'))).toContain(redirect);
      expect(/assert_?delivered/i.test(text)).toBe(isIpnSent);
    }
  });

  it('is not offered while the payment is pending, or if it expired', async () => {
    expect([textsOf({}), textsOf({ status: 'expired' })]).toEqual([[], []]);
    const sim = await startSim();
    await sim.initiate(ORDER);
    const { payments } = sim.server.parts;
    const page = async () =>
      (await fetch(`${sim.url}/_sim/ui/payments/${payments.require('order-1').id}`)).text();
    expect(await page()).not.toContain('Copy as test');
    await payments.settle('order-1', { outcome: 'approve', by: 'customer' });
    const html = await page();
    expect(html).toContain('<a href="#test">Copy as test</a>');
    for (const runner of RUNNERS) expect(html).toContain(`<code id="test-${runner.toLowerCase()}-text">`);
  });
});

const NASTY = [...'\'"\\$`\n\u2028\u202e\0😀', '$' + '{x}', '\\u0041', '\r\n', '?>', '*/'];
const hostile = fc
  .array(fc.oneof(fc.constantFrom(...NASTY), fc.string({ unit: character })), { minLength: 1, maxLength: 12 })
  .map((parts) => parts.join(''));

/** Reads a value like PHP: single quotes allow only `\\` and `\'`. */
function readByPhp(source: string): string {
  const inner = source.slice(1, -1);
  expect(inner.replace(/\\[\\']/g, '')).not.toMatch(/['\\]/);
  return inner.replace(/\\([\\'])/g, '$1');
}

/** How each language reads a value. Python reads every escape of JSON as JSON does. */
const READERS = [
  (source: string) => runInNewContext(source),
  readByPhp,
  (source: string) => JSON.parse(source),
];

it('never becomes code or hides characters, whatever the payment contains', () => {
  fc.assert(
    fc.property(hostile, (details) => {
      const texts = textsOf({ status: 'succeeded', details });
      for (const [index, text] of texts.entries()) {
        const [, source = ''] =
          /details['"]?(?::| =>) ('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"),\n/s.exec(text) ?? [];
        expect(READERS[index]?.(source)).toBe(details);
      }
      expect(texts).toHaveLength(details.search(OBEYED_BY_TERMINALS) < 0 ? RUNNERS.length : 0);
    }),
  );
});
