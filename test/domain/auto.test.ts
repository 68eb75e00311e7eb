import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AutoSettling } from '../../src/contract/payment.ts';
import { timestamp } from '../../src/contract/time.ts';
import { type DeliveryOrder, OUTCOMES, SETTLED_BY } from '../../src/contract/vocabulary.ts';
import { type AutoSettings, autoSettling, MAGIC_EMAILS, mistypedMagic } from '../../src/domain/auto.ts';
import { readStructures } from '../../src/domain/configuration.ts';
import { initiate } from '../../src/domain/payment.ts';
import { autoSettledRedirect } from '../../src/domain/settle.ts';
import type { Payment } from '../../src/domain/state.ts';
import { context, input, NOW, pendingPayment, settings, state } from '../helpers/records.ts';

const SUBJECT = { identifier: 'order-1', email: 'ada@example.com', amount: '100.00' };
const OFF: AutoSettings = { rules: [], outcome: null, delayMs: 500 };

const rules = (...given: object[]) => readStructures({ outcomes: given }).outcomes;
const outcomeOf = (subject: Partial<typeof SUBJECT>, settings: Partial<AutoSettings>) =>
  autoSettling({ ...SUBJECT, ...subject }, { ...OFF, ...settings }, NOW)?.outcome ?? 'pending';

describe('automatic settling', () => {
  it.each([...OUTCOMES, 'pending'])(
    'uses the outcome in the e-mail %s@gateway-sim.test, in any case',
    (outcome) => {
      for (const email of [`${outcome}@gateway-sim.test`, `${outcome.toUpperCase()}@Gateway-Sim.TEST`]) {
        expect(outcomeOf({ email }, {})).toBe(outcome);
        expect(outcomeOf({ email }, { outcome: 'cancel' })).toBe(outcome);
      }
    },
  );

  it('ignores an e-mail that only contains a magic e-mail', () => {
    const others = [
      'disapprove@gateway-sim.test',
      'approve@gateway-sim.test.example.com',
      'approve@sim.test',
    ];
    for (const email of others) expect(outcomeOf({ email }, {})).toBe('pending');
  });

  it.each([
    ['aprove@gateway-sim.test', 'approve@gateway-sim.test'],
    ['Failed@Gateway-Sim.Test', 'fail@gateway-sim.test'],
    ['cancel@gateway-sim.test', undefined],
    ['ada@example.com', undefined],
  ])('suggests a correction of %s: %s', (email, meant) => {
    expect(mistypedMagic(email)).toBe(meant);
  });

  it('has magic e-mails that fit the field of initiate', () => {
    for (const { email } of MAGIC_EMAILS) expect(email.length).toBeLessThanOrEqual(30);
  });

  it('follows the first matching rule before magic e-mails and --auto', () => {
    const given = rules(
      { identifier: 'order-2*', outcome: 'cancel' },
      { identifier: 'order-*', outcome: 'fail', delay: '3s', delivery: 'ipn-only' },
      { identifier: '*', outcome: 'expire' },
    );
    const settings: Partial<AutoSettings> = { rules: given, outcome: 'approve' };
    expect(outcomeOf({ identifier: 'order-21' }, settings)).toBe('cancel');
    expect(outcomeOf({ email: 'approve@gateway-sim.test' }, settings)).toBe('fail');
    expect(outcomeOf({ identifier: 'x' }, settings)).toBe('expire');
    expect(autoSettling(SUBJECT, { ...OFF, ...settings }, NOW)).toEqual({
      outcome: 'fail',
      at: timestamp(NOW + 3_000),
      delivery: 'ipn-only',
    });
  });

  it('is off if a rule has the outcome pending, even with a magic e-mail and --auto', () => {
    const settings: Partial<AutoSettings> = {
      rules: rules({ identifier: 'by-hand-*', outcome: 'pending' }),
      outcome: 'approve',
    };
    const subject = { ...SUBJECT, identifier: 'by-hand-1', email: 'fail@gateway-sim.test' };
    expect(autoSettling(subject, { ...OFF, ...settings }, NOW)).toBeNull();
    expect(outcomeOf({}, settings)).toBe('approve');
  });

  it('can have no delay', () => {
    const settings = { ...OFF, rules: rules({ amount: '100.00', outcome: 'approve', delay: '0ms' }) };
    expect(autoSettling(SUBJECT, settings, NOW)?.at).toBe(timestamp(NOW));
  });

  it.each([
    [{ amount: '100' }, { amount: '100.00' }, 'pending'],
    [{ identifier: 'ORDER-1' }, { identifier: 'order-*' }, 'pending'],
    [{ email: 'ADA@x.test' }, { email: 'Ada@*' }, 'fail'],
  ])('ignores case in e-mails only: %j with the pattern %j is %s', (subject, pattern, outcome) => {
    expect(outcomeOf(subject, { rules: rules({ ...pattern, outcome: 'fail' }) })).toBe(outcome);
  });

  it('follows a rule only if all of its patterns match', () => {
    const part = fc.stringMatching(/^[a-c.*]{1,4}$/);
    const value = fc.stringMatching(/^[a-c.]{0,6}$/);
    const glob = (pattern: string) => new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
    const patterns = fc.record({ identifier: part, email: part, amount: part }, { requiredKeys: [] });
    const subject = fc.record({ identifier: value, email: value, amount: value });
    fc.assert(
      fc.property(patterns, subject, (given, sent) => {
        fc.pre(Object.keys(given).length > 0);
        const fits = Object.entries(given).every(([name, pattern]) =>
          glob(pattern).test(sent[name as keyof typeof sent]),
        );
        expect(outcomeOf(sent, { rules: rules({ ...given, outcome: 'fail' }) })).toBe(
          fits ? 'fail' : 'pending',
        );
      }),
    );
  });
});

describe('a payment that settles automatically', () => {
  const auto: AutoSettings = { ...OFF, outcome: 'approve' };

  it('stores its outcome and time, which a restart does not change', () => {
    const { result } = initiate(state(), input(), 'sandbox', context({ auto }));
    expect(result).toMatchObject({
      status: 'pending',
      auto: { outcome: 'approve', at: timestamp(NOW + 500), delivery: null },
    });
  });

  const redirectOf = (change: Partial<Payment>, order: DeliveryOrder | null, byDefault: DeliveryOrder) => {
    const rule: AutoSettling = { outcome: 'approve', at: timestamp(NOW), delivery: order };
    const payment = pendingPayment(state(), { settledBy: 'auto', auto: rule, ...change });
    return autoSettledRedirect(payment, settings({ delivery: byDefault }));
  };

  it.each([
    ['succeeded', 'http://127.0.0.1:4/thanks?order=1'],
    ['canceled', 'http://127.0.0.1:4/cart'],
    ['failed', 'http://127.0.0.1:4/cart'],
    ['expired', null],
  ] as const)('if %s, redirects the browser to %s unless the order is ipn-only', (status, address) => {
    expect(redirectOf({ status }, null, 'ipn-then-redirect')).toBe(address);
    expect(redirectOf({ status }, null, 'ipn-only')).toBeNull();
    expect(redirectOf({ status }, 'ipn-only', 'ipn-then-redirect')).toBeNull();
    expect(redirectOf({ status }, 'redirect-only', 'ipn-only')).toBe(address);
  });

  it.each(SETTLED_BY.filter((by) => by !== 'auto'))(
    'does not redirect if it was settled by %s',
    (settledBy) => {
      expect(redirectOf({ status: 'succeeded', settledBy }, null, 'ipn-then-redirect')).toBeNull();
    },
  );
});
