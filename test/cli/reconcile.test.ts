import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { isAlive } from '../../src/store/process-identity.ts';
import { startAnswering } from '../helpers/answering.ts';
import { startAudited } from '../helpers/auditable.ts';
import { launch, run, runJson } from '../helpers/cli.ts';
import { hangingCommand } from '../helpers/shells.ts';
import { ORDER } from '../helpers/sim.ts';
import { GOOD } from '../merchants/node-shop.ts';

const FACTS = ['--fulfilled', '.credited', '--order-amount'];

describe('reconcile', () => {
  it('reports no difference for a correct shop', async () => {
    const { shop, options, byUrl, paidWhen } = await startAudited();
    await shop.place();
    await shop.place();
    await run(['pay', '--approve'], options);
    const probe = [...byUrl.slice(2), ...paidWhen, ...FACTS, '.total'];
    const { code, stdout } = await run(['reconcile', ...probe], options);
    expect([code, stdout]).toEqual([0, 'The shop and the emulator agree on all 2 payments.\n']);
  });

  it.each([
    ['there are no payments', [], 'no payments, except those of audits'],
    ['no probe works', ['one'], 'the probe worked for none of the 1 payments'],
  ])('reports no agreement if %s', async (_, identifiers, why) => {
    const { sim, options } = await startAudited();
    for (const identifier of identifiers) await sim.initiate({ ...ORDER, identifier });
    const probe = ['--probe-cmd', ': {identifier}; exit 7', '--paid-when', 'paid'];
    const { code, stderr, body } = await runJson<{ data: object[] }>(['reconcile', ...probe], options);
    expect([code, body.data.length]).toEqual([2, identifiers.length]);
    expect(stderr).toContain(`nothing was compared: `);
    expect(stderr).toContain(why);
  });

  it('skips identifiers that a shell or a program could interpret, and reports them', async () => {
    const { sim, options } = await startAudited();
    for (const identifier of ["\u0007';touch PWNED #", '$(touch PWNED)', ';touch PWNED', '--exec=touch(1)'])
      await sim.initiate({ ...ORDER, identifier });
    await run(['pay', '--all', '--approve', '--delivery', 'redirect-only'], options);
    const probe = ['--probe-cmd', 'echo {identifier} paid', '--paid-when', '/ paid/'];
    const { code, stderr, body } = await runJson<{ data: object[] }>(['reconcile', ...probe], options);
    expect([code, stderr]).toEqual([1, expect.stringContaining('3 could not be probed')]);
    const skipped = (identifier: string, why: string) => ({
      identifier,
      problem: 'not-probed',
      detail: expect.stringContaining(why),
    });
    expect(body.data).toEqual([
      skipped('--exec=touch(1)', 'like an option'),
      skipped('$(touch PWNED)', 'bash may run it'),
      skipped("\u0007';touch PWNED #", 'control character'),
    ]);
    expect(await readdir(options.cwd)).not.toContain('PWNED');
  });

  it.each([
    [
      'a command fails',
      'test {identifier} != broken && echo paid || { echo no such order >&2; exit 7; }',
      'exited with code 7: no such order',
    ],
    ['an address answers 500', undefined, 'answered 500'],
  ])('continues with the other payments if %s for one of them', async (_, cmd, detail) => {
    const { sim, options } = await startAudited();
    for (const identifier of ['one', 'broken', 'two']) await sim.initiate({ ...ORDER, identifier });
    const url = await startAnswering(({ url: path }, response) => {
      response.writeHead(path === '/broken' ? 500 : 200).end('paid');
    });
    const probe = cmd === undefined ? ['--probe-url', `${url}/{identifier}`] : ['--probe-cmd', cmd];
    const { code, body } = await runJson<{ data: object[] }>(
      ['reconcile', ...probe, '--paid-when', 'paid'],
      options,
    );
    const differs = { problem: 'fulfilled-not-paid', detail: expect.any(String) };
    expect([code, body.data]).toEqual([
      1,
      [
        { identifier: 'two', ...differs },
        { identifier: 'broken', problem: 'not-probed', detail: expect.stringContaining(detail) },
        { identifier: 'one', ...differs },
      ],
    ]);
  });

  it.each([
    ['a probe', ['--paid-when', 'paid'], 'reconcile needs a probe: specify --probe-cmd, --probe-url or --db'],
    ['a placeholder', ['--probe-cmd', 'cat orders', '--paid-when', 'paid'], 'include {identifier}'],
  ])('needs %s', async (_, args, problem) => {
    const { options } = await startAudited();
    const { code, stderr } = await run(['reconcile', ...args], options);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });

  it('probes the payment that succeeded if several have the same identifier', async () => {
    const { sim, options } = await startAudited();
    await sim.initiate(ORDER);
    await sim.initiate(ORDER);
    const [{ id, trx } = expect.fail('no payment')] = sim.server.parts.store.state.payments.values();
    await run(['pay', id, '--approve', '--delivery', 'redirect-only'], options);
    const probe = ['--probe-cmd', `test {trx} = ${trx} && echo paid || echo open`, '--paid-when', 'paid'];
    const { code, stdout } = await run(['reconcile', ...probe], options);
    expect([code, stdout]).toEqual([0, 'The shop and the emulator agree on all 2 payments.\n']);
  });

  it('ends a probe and all of its processes when it is interrupted', async () => {
    const { shop, options } = await startAudited();
    await shop.place();
    const { cmd, pids } = hangingCommand(options.cwd);
    const probe = ['--probe-cmd', `: {identifier}; ${cmd}`, '--paid-when', 'paid'];
    const running = launch(['reconcile', ...probe], options);
    const started = await pids();
    expect(await running.stop('SIGTERM')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('the comparison was interrupted'),
    });
    await expect.poll(() => started.filter(isAlive)).toEqual([]);
  });

  const payAgain = (order: Parameters<typeof GOOD.pay>[0], form = new URLSearchParams()) =>
    GOOD.pay(Object.assign(order, { paid: false }), form);

  it.each([
    ['paid-not-fulfilled', {}, ['--approve', '--delivery', 'redirect-only'], '.total'],
    ['fulfilled-not-paid', { onReturn: (order) => order && payAgain(order) }, ['--cancel'], '.total'],
    ['fulfilled-twice', { pay: payAgain }, ['--approve'], '.total'],
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
      const probe = [...byUrl.slice(2), ...paidWhen, ...FACTS, amount];
      const { code, body } = await runJson<{ data: object[] }>(['reconcile', ...probe], options);
      expect([code, body.data]).toEqual([1, [{ identifier, problem, detail: expect.any(String) }]]);
    },
  );
});
