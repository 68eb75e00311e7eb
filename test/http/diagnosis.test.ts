import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { type Diagnosis, diagnose, retrying } from '../../src/http/diagnosis.ts';
import { type Answer, type Received, startReceiver } from '../helpers/receiver.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

type Script = Answer[] | ((request: Received, number: number) => Answer);

async function settledWith(script: Script, prepare: (sim: Sim) => unknown = () => {}) {
  const receiver = await startReceiver(script);
  const sim = await startSim();
  await prepare(sim);
  const url = await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
  const id = new URL(url).searchParams.get('payment_id') ?? '';
  const settled = await sim.server.parts.payments.settle(id, { outcome: 'approve', by: 'control' });
  const last = () => settled.delivery && sim.server.parts.ipns.require(settled.delivery.id);
  const found = (): Diagnosis => {
    const delivery = last();
    if (!delivery) throw new Error('no IPN was made');
    return diagnose(delivery, sim.server.parts);
  };
  return { sim, id, receiver, last, found };
}

/** An IPN of the payment, tampered with. */
async function forged(script: Script, tamper: 'amount' | 'signature' | 'status' | 'currency') {
  const { sim, id } = await settledWith(script);
  const [delivery] = await sim.server.parts.ipns.fire({ payment: id, tamper: requireTamperings(tamper) });
  if (!delivery) throw new Error('nothing was fired');
  const { parts } = sim.server;
  return diagnose(delivery, parts);
}

describe('a genuine IPN', () => {
  it('that was taken is right', async () => {
    const { found } = await settledWith([{}]);
    expect(found()).toMatchObject({
      tone: 'good',
      cause: expect.stringMatching(/^Your receiver took it: 200/),
      action: null,
    });
  });

  it.each([
    [405, {}, '', /takes no POST/],
    [419, {}, '', /CSRF/],
    [403, {}, 'CSRF verification failed', /CSRF/],
    [302, { Location: '/login?next=/ipn' }, '', /login page/],
    [302, { Location: 'http://other/' }, '', /redirected to http:\/\/other/],
    [500, {}, '<html><title>TypeError: x is undefined</title>', /x is undefined/],
    [
      500,
      {},
      'Traceback (most recent call last):\n  File "a.py"\nKeyError: \'amount\'',
      /KeyError: 'amount'/,
    ],
    [
      500,
      {},
      '<title>Server Error</title><h1>App\\PaymentException: no order</h1><pre>#0 /var/www/Ipn.php(42): main',
      /\(500\): App\\PaymentException: no order, #0 \/var\/www\/Ipn\.php\(42\)$/,
    ],
    [
      500,
      {},
      'TypeError: Cannot read properties of null\n    at pay (/app/ipn.js:3:9)',
      /\(500\): TypeError: Cannot read properties of null, at pay \(\/app\/ipn\.js:3:9\)$/,
    ],
    [404, {}, '', /no such route/],
  ])('that was answered %i %j is wrong in its own way', async (status, headers, body, cause) => {
    const { found } = await settledWith([{ status, headers, body }]);
    expect(found()).toMatchObject({
      tone: 'bad',
      cause: expect.stringMatching(cause),
      cure: expect.stringMatching(/\.$/),
    });
  });

  it('that was answered 200 with a fatal error is wrong', async () => {
    const { found } = await settledWith([{ body: 'Fatal error: Uncaught TypeError in ipn.php:3' }]);
    expect(found()).toMatchObject({ tone: 'bad', cause: expect.stringContaining('its body is an error') });
  });

  it('whose receiver shows the signature that it computed names the mistake', async () => {
    const { found } = await settledWith((request) => {
      const form = new URLSearchParams(request.body);
      const text = `${Number(form.get('data[amount]'))}${form.get('identifier')}`;
      const computed = createHmac('sha256', 'sec_sim_example_not_a_real_key')
        .update(text)
        .digest('hex')
        .toUpperCase();
      return { status: 400, body: `bad signature: expected ${computed}` };
    });
    const { cause, code, tone } = found();
    expect(tone).toBe('bad');
    expect(cause).toMatch(/Your code signed .*49\.9 was signed, but data\.amount is 49\.90/);
    expect(Object.keys(code ?? {})).toEqual(['PHP', 'Node', 'Python']);
  });

  it('that your fault rule changed or lost blames nobody else', async () => {
    const corrupt = await settledWith([{ status: 400 }], ({ server }) =>
      server.parts.faults.set({ route: 'ipn', corruptSignature: true }),
    );
    expect(corrupt.found()).toMatchObject({
      tone: 'waiting',
      action: 'faults',
      cause: 'Fault: signature corrupted. The receiver answered 400.',
      cure: expect.stringContaining('your rule'),
    });
    const lost = await settledWith([{}], ({ server }) =>
      server.parts.faults.set({ route: 'ipn', drop: true }),
    );
    expect(lost.found()).toMatchObject({ tone: 'waiting', cause: 'Fault: it was lost on the way.' });
  });

  it('that keeps failing says so in lists', async () => {
    const { sim, last } = await settledWith([{ status: 500 }]);
    const delivery = last();
    if (!delivery) throw new Error('no IPN was made');
    const { parts } = sim.server;
    const nextAttemptAt = new Date(parts.clock.now() + 480_000).toISOString();
    expect(retrying({ ...delivery, nextAttemptAt }, parts)).toEqual({
      brief: 'retrying ×1',
      text: 'retrying · 500 ×1 · next in 8 min',
    });
  });
});

describe('a forged IPN', () => {
  it.each([
    [
      'amount',
      'Your receiver accepted a forged IPN (amount 49.90 → 949.90). It does not check the signature.',
    ],
    ['signature', 'Your receiver accepted a forged IPN (signature). It does not check the signature.'],
    ['status', /status failed\)\. It does not compare/],
    ['currency', /currency USD → GNF\)\. It does not compare/],
  ] as const)('that is accepted is wrong: %s', async (tamper, cause) => {
    expect(await forged([{}], tamper)).toMatchObject({
      tone: 'bad',
      cause: typeof cause === 'string' ? cause : expect.stringMatching(cause),
    });
  });

  it('that is rejected is right, by a status or in words', async () => {
    expect(await forged([{}, { status: 400 }], 'amount')).toMatchObject({
      tone: 'good',
      cause: expect.stringContaining('as it must: 400'),
    });
    expect(await forged([{}, { body: '{"ok":false}' }], 'amount')).toMatchObject({
      tone: 'good',
      cure: expect.stringContaining('4xx'),
    });
  });

  it('that the receiver never answered proves nothing', async () => {
    expect(await forged([{}, 'drop'], 'amount')).toMatchObject({ tone: 'waiting' });
  });
});
