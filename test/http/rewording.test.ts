import { expect, it, vi } from 'vitest';
import type { AttemptFailure } from '../../src/contract/delivery.ts';
import { requireTamperings } from '../../src/contract/tampering.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

const WORDS = 'the same in other words';

vi.mock('../../src/contract/describe-delivery.ts', async (original) => {
  const real = await original<typeof import('../../src/contract/describe-delivery.ts')>();
  const errorOf: typeof real.errorOf = ({ failure }) => failure && WORDS;
  return {
    ...real,
    describeFailure: () => WORDS,
    describeBriefly: () => WORDS,
    describeEgress: () => WORDS,
    insteadOfSending: (rule) => real.insteadOfSending(rule) && WORDS,
    errorOf,
    attemptView: ({ deliveryId: _, ...attempt }) => ({ ...attempt, error: errorOf(attempt) }),
    noteOf: () => WORDS,
    remarksOn: () => [WORDS],
  } satisfies typeof real;
});

async function settled() {
  const receiver = await startReceiver();
  const sim = await startSim();
  await sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn` });
  const { delivery } = await sim.server.parts.payments.settle('order-1', {
    outcome: 'approve',
    by: 'control',
  });
  const [attempt] = delivery ? sim.server.parts.ipns.attemptsOf(delivery.id) : [];
  if (!delivery || !attempt) throw new Error('nothing was sent');
  return { parts: sim.server.parts, delivery, attempt, receiver };
}

it('the fix for a failure does not depend on the wording', async () => {
  const { parts, delivery, attempt } = await settled();
  const silent = { ...attempt, responseStatus: null, responseHeaders: [], responseBody: null };
  const offered = (failure: AttemptFailure) => {
    const { tone, action, to } = parts.ipns.verdictOnAttempt(delivery, { ...silent, failure });
    return { tone, action, to };
  };
  const secure = attempt.url.replace('http:', 'https:');
  expect(offered({ code: 'connection_refused' })).toEqual({ tone: 'bad', action: 'resend', to: null });
  expect(offered({ code: 'expects_https' })).toEqual({ tone: 'bad', action: 'resend', to: secure });
  const dropped = {
    ...silent,
    failure: { code: 'fault' } as const,
    fault: { route: 'ipn', drop: true as const },
  };
  expect(parts.ipns.verdictOnAttempt(delivery, dropped)).toMatchObject({ tone: 'waiting', action: 'faults' });
  expect(parts.ipns.verdictOnAttempt(delivery, attempt).tone).toBe('good');
});

it('a blocked IPN is reported as blocked, and a forged IPN as forged, in any wording', async () => {
  const { parts, receiver } = await settled();
  const fired = parts.ipns.fire({ to: 'http://203.0.113.9/' });
  await expect(fired).rejects.toMatchObject({
    code: 'forbidden',
    remedy: expect.stringContaining('--allow-ipn-host 203.0.113.9'),
  });
  const refused = [...parts.ipns.all.values()].at(-1);
  expect(refused && parts.ipns.verdict(refused)).toMatchObject({ tone: 'bad', action: null });
  const [forged] = await parts.ipns.fire({ to: receiver.url, tamper: requireTamperings('signature') });
  expect(forged && parts.ipns.verdict(forged)).toMatchObject({ tone: 'bad', code: expect.anything() });
});
