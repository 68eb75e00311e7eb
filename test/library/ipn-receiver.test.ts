import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { connectGatewaySim } from '../../src/index.ts';
import type { FireOptions } from '../../src/library/api.ts';
import { startClient, startLibrary } from '../helpers/library.ts';

/** An emulator, a receiver, and an IPN sent to it by hand. */
async function listening() {
  const sim = await startClient();
  const receiver = await sim.listen();
  onTestFinished(() => receiver.close());
  const fire = (options: FireOptions = {}) => sim.ipns.fire({ to: receiver.url, ...options });
  return { sim, receiver, fire };
}

it('the IPN of an approved payment is received as valid, with its fields and its raw body', async () => {
  const { sim, receiver } = await listening();
  const ipnUrl = `${receiver.url}/ipn?token=1`;
  await sim.payments.create({ identifier: 'order-1', amount: '49.90', ipnUrl });
  await sim.payments.approve('order-1');
  const ipn = await receiver.waitFor({ identifier: 'order-1' });
  expect(ipn).toMatchObject({
    method: 'POST',
    url: '/ipn?token=1',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    fields: { status: 'success', identifier: 'order-1', 'data[amount]': '49.90' },
    valid: true,
    reason: null,
  });
  expect(new URLSearchParams(ipn.body).get('identifier')).toBe('order-1');
  expect(receiver.received).toEqual([ipn]);
});

it('a forged IPN is received with the reason why it is invalid', async () => {
  const { receiver, fire } = await listening();
  await fire({ tamper: ['amount'] });
  expect(await receiver.waitFor()).toMatchObject({
    valid: false,
    reason: expect.stringContaining('signature'),
  });
});

it('JSON has the same field names as a form', async () => {
  const { receiver, fire } = await listening();
  await fire({ format: 'json', amount: '7.50' });
  expect(await receiver.waitFor({ 'data[amount]': '7.50' })).toMatchObject({ valid: true });
});

it('the receiver sends the given response, or the result of a handler', async () => {
  const { receiver, fire } = await listening();
  const answered = async () => {
    const [delivery] = await fire({ amount: '7.50' });
    const { responseStatus, responseBody } = delivery?.attempts.at(-1) ?? {};
    return [responseStatus, responseBody];
  };
  expect(await answered()).toEqual([200, '']);
  receiver.respondWith(503);
  expect(await answered()).toEqual([503, '']);
  receiver.respondWith({ body: 'OK' });
  expect(await answered()).toEqual([200, 'OK']);
  receiver.respondWith(({ fields }) => ({ status: 409, body: `no ${fields['data[amount]']}` }));
  expect(await answered()).toEqual([409, 'no 7.50']);
  receiver.respondWith(() => {
    throw new Error('a bug in the handler');
  });
  expect(await answered()).toEqual([500, 'Error: a bug in the handler']);
});

it.each([99, 600, null, 'OK', { statsu: 500 }])('the receiver rejects %j as a response', async (answer) => {
  const { receiver } = await listening();
  expect(() => receiver.respondWith(answer as 200)).toThrow(expect.objectContaining({ code: 'usage' }));
});

it('the error for a missing IPN lists the IPNs that were received or sent instead', async () => {
  const { sim, receiver, fire } = await listening();
  const waited = (identifier: string) => receiver.waitFor({ identifier }, { timeout: 0 });
  await expect(waited('order-2')).rejects.toThrow(
    `there was no IPN with identifier "order-2" within 0 s\n  ${receiver.url} received nothing\n  no IPN was sent`,
  );
  await sim.ipns.fire({ to: 'http://127.0.0.1:9/ipn', identifier: 'order-1' });
  await expect(waited('order-2')).rejects.toThrow('of "order-1" to http://127.0.0.1:9/ipn is failed');
  await fire({ identifier: 'order-1' });
  await expect(waited('order-2')).rejects.toThrow('POST / had identifier "order-1": valid');
});

it('an incomplete or oversized request is ignored, and the next one is received', async () => {
  const { receiver, fire } = await listening();
  const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1').resume();
  socket.end('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nabc');
  await once(socket, 'close');
  const large = await fetch(receiver.url, { method: 'POST', body: 'x'.repeat(2 ** 20 + 1) });
  expect([large.status, receiver.received]).toEqual([413, []]);
  await fire();
  expect(receiver.received).toHaveLength(1);
});

it('the test must close the receiver of a connected emulator; an emulator that the test started closes its own receiver', async () => {
  const sim = await startLibrary();
  const receiver = await sim.listen();
  const connected = await connectGatewaySim(sim.url);
  const other = await connected.listen();
  await other.close();
  await other.close();
  await expect(fetch(other.url)).rejects.toThrow('fetch failed');
  expect((await fetch(receiver.url)).status).toBe(200);
  await sim.stop();
  await expect(fetch(receiver.url)).rejects.toThrow('fetch failed');
});
