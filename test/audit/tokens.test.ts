import { expect, it } from 'vitest';
import { withTokensOf } from '../../src/audit/ipn.ts';
import type { Payment } from '../../src/contract/payment.ts';

const VICTIM = { identifier: 'k3J9+xQ2mZ7pL0aVbN4w', trx: 'ABCDEFGHJKLM' } as Payment;

it.each([
  ['a random part', '/ipn/9f86d081884c7d65', '/ipn/2c26b46b68ffc68f', true],
  ['a random part after a counter', '/ipn/118-9f86d081884c7d65', '/ipn/119-2c26b46b68ffc68f', true],
  ['a short part', '/ipn?key=9f86d081', '/ipn?key=2c26b46b', false],
  ['the encoded identifier', '/ipn?o=k3J9%2BxQ2mZ7pL0aVbN4w', '/ipn?o=R8dT%2Bw1Ys5Gf6Hc2eUoi', false],
  [
    'the identifier in a longer part',
    '/ipn/order_k3J9+xQ2mZ7pL0aVbN4w',
    '/ipn/order_R8dT+w1Ys5Gf6Hc2eUoi',
    false,
  ],
  ['a long counter', '/ipn?cart=20261123000000000118', '/ipn?cart=20261123000000000121', false],
  ['a counter before a name', '/ipn/1000007-the-shop-of-alice', '/ipn/1000008-the-shop-of-alice', false],
  ['a constant', '/ipn?site=the-shop-of-alice', '/ipn?site=the-shop-of-alice', false],
])('an attacker can guess every part of an ipn_url except a random one: %s', (_, own, other, isUnknown) => {
  expect(withTokensOf(own, VICTIM, other)).toBe(isUnknown ? other : own);
});
