import { describe, expect, it } from 'vitest';
import { launch, run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';

interface Settled {
  payment: { id: string; identifier: string; status: string };
  delivery: { state: string } | null;
  redirectUrl: string | null;
}

async function start() {
  const cwd = await temporaryFolder();
  const ready = await startIn(cwd, { ipnRetries: 0 });
  const create = async (identifier: string, ...more: string[]) =>
    (await runJson<{ id: string }>(['payments', 'create', '--identifier', identifier, ...more], { cwd })).body
      .id;
  return { cwd, ready, create };
}

describe('pay', () => {
  it.each([
    ['--approve', 'succeeded'],
    ['--cancel', 'canceled'],
    ['--fail', 'failed'],
    ['--expire', 'expired'],
  ])('%s makes the newest pending payment %s', async (flag, status) => {
    const receiver = await startReceiver();
    const { cwd, create } = await start();
    await create('older');
    const newest = await create('newest', '--ipn-url', `${receiver.url}/ipn`);
    const { code, body } = await runJson<Settled>(['pay', flag], { cwd });
    expect(code).toBe(0);
    expect(body.payment).toMatchObject({ id: newest, status });
    expect(receiver.requests).toHaveLength(flag === '--approve' ? 1 : 0);
    expect(body.delivery?.state ?? null).toBe(flag === '--approve' ? 'delivered' : null);
  });

  it('takes an identifier or an id, whatever characters it is made of', async () => {
    const { cwd, create } = await start();
    const id = await create('S0/42?a#b %');
    const settle = ['--delivery', 'redirect-only'];
    expect((await run(['pay', 'S0/42?a#b %', '--approve', ...settle], { cwd })).code).toBe(0);
    const again = await run(['pay', id, '--approve'], { cwd });
    expect(again.code).toBe(4);
    expect(again.stderr).toContain('succeeded');
    expect((await run(['pay', 'S0/42?a#b %', '--approve'], { cwd })).code).toBe(4);
  });

  it('--all settles every pending payment, and none is no error', async () => {
    const { cwd, create } = await start();
    for (const name of ['a', 'b', 'c']) await create(name);
    const all = ['pay', '--all', '--cancel'];
    const { body } = await runJson<{ data: Settled[] }>(all, { cwd });
    expect(body.data.map(({ payment }) => payment.identifier).sort()).toEqual(['a', 'b', 'c']);
    expect(await runJson(all, { cwd })).toMatchObject({ code: 0, body: { data: [] } });
  });

  it('exits 4 for a payment that is not there', async () => {
    const { cwd } = await start();
    for (const args of [
      ['pay', '--approve'],
      ['pay', 'nope', '--approve'],
      ['pay', '--approve', '--wait', '200ms'],
    ]) {
      const { code, stdout, stderr } = await run(args, { cwd });
      expect([args, code, stdout]).toEqual([args, 4, '']);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });

  it('--wait waits for a payment that comes later', async () => {
    const { cwd, create } = await start();
    const waiting = launch(['pay', 'late', '--cancel', '--wait', '15s', '--json'], { cwd });
    await create('late');
    const { code, stdout } = await waiting.ended;
    expect([code, (JSON.parse(stdout) as Settled).payment.status]).toEqual([0, 'canceled']);
  });

  it('exits 3 without a server, with --wait only when the time is up', async () => {
    const cwd = await temporaryFolder();
    for (const more of [[], ['--wait', '300ms']]) {
      const args = ['pay', '--approve', '--url', 'http://127.0.0.1:9', ...more];
      const { code, stderr } = await run(args, { cwd });
      expect([more, code]).toEqual([more, 3]);
      expect(stderr).toContain('gateway-sim.js start');
    }
  });

  it.each([
    [[]],
    [['--approve', '--cancel']],
    [['x', '--approve', '--all']],
    [['--approve', '--wait', 'long']],
    [['--approve', '--delivery', 'never']],
    [['--aprove']],
  ])('with %j exits 2', async (args) => {
    const { cwd, create } = await start();
    await create('x');
    const { code, stderr } = await run(['pay', ...args], { cwd });
    expect(code).toBe(2);
    expect(stderr).not.toMatch(/^\s+at /m);
  });

  it.each([
    [200, 0],
    [500, 1],
  ])('--require-delivery with a receiver that answers %i exits %i', async (status, expected) => {
    const receiver = await startReceiver([{ status }]);
    const { cwd, create } = await start();
    await create('x', '--ipn-url', `${receiver.url}/ipn`);
    const { code, body } = await runJson<Settled>(['pay', '--approve', '--require-delivery'], { cwd });
    expect([code, body.payment.status]).toEqual([expected, 'succeeded']);
  });
});
