import { describe, expect, it } from 'vitest';
import { run, runJson } from '../helpers/binary.ts';
import { prepare } from '../merchants/running.ts';

describe('reconcile', () => {
  const readyOf = async () => {
    const { cwd, env, url } = await prepare('node');
    const looks = ['--probe-url', `${url}/orders/{identifier}`, '--paid-when', '.status=paid'];
    const sim = (...args: string[]) => run(args, { cwd, env });
    const reconcile = (...args: string[]) => sim('reconcile', ...looks, '--order-amount', '.total', ...args);
    return { url, sim, reconcile };
  };
  const order = (url: string) => fetch(`${url}/order`, { method: 'POST' });

  it('agrees with a good shop', async () => {
    const { url, sim, reconcile } = await readyOf();
    await order(url);
    await order(url);
    await sim('pay', '--approve');
    const { code, stdout } = await reconcile('--fulfilled', '.effects');
    expect([code, stdout]).toEqual([0, 'The shop and the emulator agree about every payment.\n']);
  });

  it.each([
    ['paid-not-fulfilled', 'robust', ['--approve', '--delivery', 'redirect-only'], '.total'],
    ['fulfilled-not-paid', 'F', ['--cancel'], '.total'],
    ['fulfilled-twice', 'once', ['--approve'], '.total'],
    ['amount-differs', '', ['--approve'], '.effects'],
  ])('finds %s', async (problem, flaw, settle, amount) => {
    const { cwd, env, url } = await prepare('node', flaw);
    const sim = (...args: string[]) => run(args, { cwd, env });
    await order(url);
    const list = await runJson<{ data: { identifier: string; successUrl: string }[] }>(['payments', 'list'], {
      cwd,
      env,
    });
    const [{ identifier, successUrl } = { identifier: '', successUrl: '' }] = list.body.data;
    await sim('pay', ...settle);
    if (problem === 'fulfilled-not-paid') await fetch(successUrl);
    if (problem === 'fulfilled-twice') await sim('ipn', 'fire', '--payment', identifier);
    const looks = ['--probe-url', `${url}/orders/{identifier}`, '--paid-when', '.status=paid'];
    const more = ['--fulfilled', '.effects', '--order-amount', amount];
    const { code, body } = await runJson<{ data: object[] }>(['reconcile', ...looks, ...more], { cwd, env });
    expect([code, body.data]).toEqual([1, [{ identifier, problem, detail: expect.any(String) }]]);
  });
});
