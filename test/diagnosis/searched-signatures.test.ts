import { beforeEach, expect, it, vi } from 'vitest';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { verify } from '../../src/diagnosis/verify.ts';
import { type Answer, startReceiver } from '../helpers/receiver.ts';
import { idOf, ORDER, startSim } from '../helpers/sim.ts';

/*
 * `verify` compares a wrong signature with every mistake, which takes a thousand hashes. A page with many payments must
 * not do so for each of them.
 */
vi.mock('../../src/diagnosis/verify.ts', { spy: true });
beforeEach(() => {
  vi.mocked(verify).mockClear();
});

async function settledWith(answers: Answer[]) {
  const receiver = await startReceiver(answers);
  const sim = await startSim();
  const id = idOf(await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` }));
  const { ipns, payments } = sim.server.parts;
  const { delivery } = await payments.settle(id, { outcome: 'approve', by: 'control' });
  if (!delivery) throw new Error('no IPN was created');
  return { id, ipns, payments, delivery };
}

it('a response full of hashes is checked against the first three only, once each', async () => {
  const hashes = Array.from({ length: 8 }, (_, index) => `${index}`.repeat(64));
  const { ipns, delivery } = await settledWith([{ status: 500, body: hashes.join('\n') }]);
  ipns.verdict(ipns.require(delivery.id));
  ipns.verdict(ipns.require(delivery.id));
  const searched = vi.mocked(verify).mock.calls.map(([, , signature]) => signature);
  expect(searched).toEqual([undefined, ...hashes.slice(0, 3)]);
});

it('only a signature in a response is compared with every mistake', async () => {
  const { id, ipns, payments } = await settledWith([{ status: 400, body: 'no' }, {}]);
  const { fix } = payments.verdict(payments.require(id));
  expect(fix).toContain('If your handler parses 49.90 as a number, it becomes 49.9 and');
  const [forged] = await ipns.fire({ payment: id, tamper: requireTamperings('amount') });
  expect(forged && ipns.verdict(forged).headline).toBe('Forged IPN accepted.');
  expect(verify).not.toHaveBeenCalled();
});
