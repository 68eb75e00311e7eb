import { describe, expect, it } from 'vitest';
import { startAudited } from '../helpers/auditable.ts';
import { run, runJson } from '../helpers/cli.ts';
import { GOOD } from '../merchants/node-shop.ts';

const LOOKS = ['--fulfilled', '.credited', '--order-amount'];

describe('reconcile', () => {
  it('agrees with a good shop', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    await shop.place();
    await shop.place();
    await run(['pay', '--approve'], options);
    const looks = [...byUrl.slice(2), ...paidWhen, ...LOOKS, '.total'];
    const { code, stdout } = await run(['reconcile', ...looks], options);
    expect([code, stdout]).toEqual([0, 'The shop and the emulator agree about every payment.\n']);
  });

  it.each([
    ['paid-not-fulfilled', {}, ['--approve', '--delivery', 'redirect-only'], '.total'],
    [
      'fulfilled-not-paid',
      { onReturn: (order) => order && GOOD.pay(order, new URLSearchParams()) },
      ['--cancel'],
      '.total',
    ],
    [
      'fulfilled-twice',
      { pay: (order, form) => GOOD.pay(Object.assign(order, { paid: false }), form) },
      ['--approve'],
      '.total',
    ],
    ['amount-differs', {}, ['--approve'], '.credited'],
  ] satisfies [string, Parameters<typeof startAudited>[0], string[], string][])(
    'finds %s',
    async (problem, changed, settle, amount) => {
      const { shop, options, byUrl, paidWhen } = await startAudited(changed);
      await shop.place();
      const [identifier = ''] = shop.orders.keys();
      await run(['pay', ...settle], options);
      if (problem === 'fulfilled-not-paid') await fetch(`${shop.url}/paid?order=${identifier}`);
      if (problem === 'fulfilled-twice') await run(['ipn', 'fire', '--payment', identifier], options);
      const looks = [...byUrl.slice(2), ...paidWhen, ...LOOKS, amount];
      const { code, body } = await runJson<{ data: object[] }>(['reconcile', ...looks], options);
      expect([code, body.data]).toEqual([1, [{ identifier, problem, detail: expect.any(String) }]]);
    },
  );
});
