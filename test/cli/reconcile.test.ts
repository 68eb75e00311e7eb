import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../src/store/process-identity.ts';
import { launch, run, runJson } from '../helpers/binary.ts';
import { hangingCommand } from '../helpers/shells.ts';
import { ORDER } from '../helpers/sim.ts';
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

  it('hands no command an identifier that a shell or a program might obey, and says which it left out', async () => {
    const { cwd, env, ready } = await prepare('node');
    const initiate = async (identifier: string) => {
      const body = new URLSearchParams({ ...ORDER, public_key: ready.publicKey, identifier });
      await fetch(`${ready.url}/sandbox/payment/initiate`, { method: 'POST', body });
    };
    for (const identifier of ["\u0007';touch PWNED #", '$(touch PWNED)', '--exec=touch(1)'])
      await initiate(identifier);
    await run(['pay', '--all', '--approve', '--delivery', 'redirect-only'], { cwd, env });
    const looks = ['--probe-cmd', 'echo {identifier} paid', '--paid-when', '/ paid/'];
    const { code, stderr, body } = await runJson<{ data: object[] }>(['reconcile', ...looks], { cwd, env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('2 could not be asked about')]);
    expect(body.data).toEqual([
      {
        identifier: '--exec=touch(1)',
        problem: 'not-probed',
        detail: expect.stringContaining('like an option'),
      },
      {
        identifier: "\u0007';touch PWNED #",
        problem: 'not-probed',
        detail: expect.stringContaining('control character'),
      },
    ]);
    expect(await readdir(cwd)).not.toContain('PWNED');
  });

  it('ends a probe with all that it has started when it is interrupted', async () => {
    const { cwd, env, url } = await prepare('node');
    await order(url);
    const { cmd, pids } = hangingCommand(cwd);
    const looks = ['--probe-cmd', `: {identifier}; ${cmd}`, '--paid-when', 'paid'];
    const running = launch(['reconcile', ...looks], { cwd, env });
    const started = await pids();
    process.kill(running.pid, 'SIGTERM');
    expect(await running.ended).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the comparison was interrupted'),
    });
    await expect.poll(() => started.filter(isAlive)).toEqual([]);
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
