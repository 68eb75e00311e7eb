import { describe, expect, it } from 'vitest';
import { initiate, requirePayment, withEvent } from '../../src/domain/payment.ts';
import { context, input, merchant, NOW, pendingPayment, state } from '../helpers/records.ts';

describe('a valid initiate', () => {
  it('belongs to the merchant whose public key was sent', () => {
    const held = state();
    held.apply({ merchants: [merchant({ id: 'mer_2', name: 'other', publicKey: 'pub_sim_other' })] });
    const { result } = initiate(held, input({ public_key: 'pub_sim_other' }), 'sandbox', context());
    expect(result.merchantId).toBe('mer_2');
  });

  it('draws another id if the first is in use', () => {
    const held = state();
    const first = pendingPayment(held);
    const second = initiate(held, input(), 'sandbox', context()).result;
    expect(second.id).not.toBe(first.id);
  });
});

describe('requirePayment', () => {
  it('finds a payment by id, then the newest pending one with the identifier, then the newest', () => {
    const held = state();
    const using = context();
    const settled = { status: 'succeeded' as const };
    const first = pendingPayment(held, {}, using);
    const second = pendingPayment(held, {}, using);
    const third = pendingPayment(held, settled, using);
    expect(requirePayment(held, first.id)).toEqual(first);
    expect(requirePayment(held, 'order-1')).toEqual(second);
    held.apply({ payments: [{ ...second, ...settled }] });
    expect(requirePayment(held, 'order-1')).toEqual(first);
    held.apply({ payments: [{ ...first, ...settled }] });
    expect(requirePayment(held, 'order-1')).toEqual(third);
  });

  it('rejects an unknown reference', () => {
    expect(() => requirePayment(state(), 'nothing')).toThrow(/no payment has the id or identifier "nothing"/);
  });
});

describe('the history of a payment', () => {
  it('is limited, but always includes the settlement', () => {
    let payment = pendingPayment(state());
    for (let count = 0; count < 500; count++) payment = withEvent(payment, { now: NOW }, 'opened');
    expect(payment.history).toHaveLength(100);
    expect(withEvent(payment, { now: NOW }, 'settled', 'succeeded').history.at(-1)?.event).toBe('settled');
  });
});
