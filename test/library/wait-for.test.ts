import { describe, expect, it } from 'vitest';
import { connectGatewaySim, GatewayError, type GatewaySimClient } from '../../src/index.ts';
import { startClient, startLibrary } from '../helpers/library.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

describe('a wait that fails', () => {
  const TIMEOUT = { timeout: 30 };
  const messageOf = async (waited: Promise<unknown>) => {
    const error = await waited.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(GatewayError);
    expect(error).toMatchObject({ code: 'timed_out' });
    return (error as GatewayError).message.split('\n  ');
  };

  it('for a payment reports what was initiated and rejected instead', async () => {
    const sim = await startClient();
    expect(await messageOf(sim.payments.waitFor({ identifier: 'order-1' }, TIMEOUT))).toEqual([
      'there was no payment with identifier "order-1" within 0.03 s',
      'no payment was initiated',
    ]);
    const other = await sim.payments.create({ identifier: 'order-2' });
    await fetch(sim.initiateUrl, { method: 'OPTIONS' });
    await fetch(`${sim.url}/sandbox/payments/initiate`, { method: 'POST' });
    await sim.payments.create({ amount: 'much', publicKey: '' }).catch(() => {});
    await sim.faults.set({ route: 'initiate', status: 503 });
    await sim.payments.create().catch(() => {});
    expect(await messageOf(sim.payments.waitFor({ identifier: 'order-1' }, TIMEOUT))).toEqual([
      'there was no payment with identifier "order-1" within 0.03 s',
      `payment "order-2" is pending (sandbox, ${other.id})`,
      expect.stringMatching(/^POST \/sandbox\/payment\/initiate was rejected \(503\): fault rule: /),
      expect.stringMatching(
        /^POST \/sandbox\/payment\/initiate was rejected \(200\): public_key is required; amount must be a plain/,
      ),
      expect.stringMatching(
        /^POST \/sandbox\/payments\/initiate was rejected \(404\): .*\/sandbox\/payment\/initiate/,
      ),
    ]);
    const [, happened] = await messageOf(
      sim.payments.waitFor({ identifier: 'order-2', status: 'succeeded' }, TIMEOUT),
    );
    expect(happened).toBe(`payment "order-2" is pending (sandbox, ${other.id})`);
  });

  it('for a payment names the options that accept a rejected request as in code', async () => {
    const sim = await startLibrary();
    const body = new URLSearchParams({ ...ORDER, public_key: sim.publicKey, site_logo: '', currency: 'npr' });
    await fetch(sim.initiateUrl, { method: 'POST', body });
    const [, , reason] = await messageOf(sim.payments.waitFor({ identifier: 'order-1' }, TIMEOUT));
    expect(reason).toMatch(
      /: site_logo is required; For clients .*, start with loose and currency \(NPR\) to accept this request$/,
    );
  });

  it('for an IPN reports the state of the existing ones', async () => {
    const receiver = await startReceiver([{ status: 503 }]);
    const sim = await startClient();
    const wait = () => messageOf(sim.ipns.waitFor({ payment: 'order-1', state: 'delivered' }, TIMEOUT));
    expect(await wait()).toEqual([
      'there was no IPN with payment "order-1", state "delivered" within 0.03 s',
      'there is no payment "order-1"',
    ]);
    await sim.payments.create({ identifier: 'order-1', ipnUrl: `${receiver.url}/ipn` });
    expect((await wait())[1]).toBe('payment "order-1" is pending: no IPN was sent for it');
    const { delivery } = await sim.payments.approve('order-1');
    expect((await wait())[1]).toMatch(
      `IPN ${delivery?.id} of "order-1" to ${receiver.url}/ipn is failed: Your handler returned 503`,
    );
    expect(await messageOf(sim.ipns.waitFor({ state: 'refused' }, TIMEOUT))).toHaveLength(2);
  });

  it('for a request reports what was requested instead', async () => {
    const sim = await startClient();
    expect((await messageOf(sim.requests.waitFor({ path: '/api/cards' }, TIMEOUT)))[1]).toBe(
      'the service was not called',
    );
    await sim.payments.create();
    expect(await messageOf(sim.requests.waitFor({ path: '/api/cards' }, TIMEOUT))).toEqual([
      'there was no request with path "/api/cards" within 0.03 s',
      'POST /sandbox/payment/initiate returned 200',
    ]);
  });

  it('for a code reports who received codes instead', async () => {
    const sim = await startClient();
    expect(await messageOf(sim.inbox.waitFor({ payment: 'order-1' }, TIMEOUT))).toEqual([
      'there was no verification code for payment "order-1" within 0.03 s',
      'no code was sent: a live checkout sends one when the customer enters an e-mail',
    ]);
  });

  it('ends immediately if its arguments are invalid or the emulator has stopped', async () => {
    const sim = await startSim();
    const client = await connectGatewaySim(sim.url);
    const wrong = { status: 'paid' } as unknown as { status: 'succeeded' };
    await expect(client.payments.waitFor(wrong)).rejects.toMatchObject({ code: 'invalid_fields' });
    await expect(client.payments.waitFor({}, { timeout: 'soon' })).rejects.toMatchObject({ code: 'usage' });
    await sim.server.stop();
    await expect(client.payments.waitFor()).rejects.toMatchObject({ code: 'no_server' });
  });

  it.each([
    ['text as the filter', 'order-1', undefined, 'the filter must be an object (got "order-1")'],
    ['a timeout in the filter', { timeout: 500 }, undefined, 'timeout is not a filter'],
    ['a number of milliseconds', {}, 100, 'the second argument of waitFor must be an object'],
    ['a mistyped timeout', {}, { timout: 100 }, 'unknown field timout: did you mean timeout?'],
  ])('rejects %s', async (_, filter, options, message) => {
    const sim = await startClient();
    for (const { waitFor } of [sim.payments, sim.ipns, sim.requests, sim.inbox] as { waitFor: unknown }[]) {
      // Like a call from plain JavaScript.
      const wait = waitFor as (...given: unknown[]) => Promise<unknown>;
      const refused = { code: 'usage', message: expect.stringContaining(message) };
      await expect(wait(filter, options)).rejects.toMatchObject(refused);
    }
  });

  it.each<[string, (sim: GatewaySimClient) => Promise<unknown>, string]>([
    ['of the inbox', (sim) => sim.inbox.waitFor({ paymet: 'x' } as object), 'did you mean payment?'],
    ['of an audit', (sim) => sim.audit({ ipnUrll: 'x' } as never), 'ipnUrll: did you mean ipnUrl?'],
    ['of a connection', ({ url }) => connectGatewaySim(url, { contrlToken: 'x' } as object), 'controlToken?'],
  ])('a mistyped name %s is rejected', async (_, call, message) => {
    const refused = { code: 'usage', message: expect.stringContaining(message) };
    await expect(call(await startClient())).rejects.toMatchObject(refused);
  });
});
