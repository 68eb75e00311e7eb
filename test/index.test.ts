import { describe, expect, it } from 'vitest';
import { signIpn, verifyIpn } from '../src/index.ts';

const KEY = 'sec_sim_1';
// openssl: printf %s 100.00order-1 | openssl dgst -sha256 -hmac sec_sim_1
const SIGNATURE = '47C381D16C538B349F31D9BC97A0DB730D9FE8B5C71E251F6728E9B5557F4D2E';
const FIELDS = { status: 'success', signature: SIGNATURE, identifier: 'order-1', 'data[amount]': '100.00' };
const { 'data[amount]': amount, ...OTHERS } = FIELDS;
const NESTED = { ...OTHERS, data: { amount } };
const BODY = new URLSearchParams(FIELDS).toString();

const formData = new FormData();
for (const [name, value] of Object.entries(FIELDS)) formData.append(name, value);

describe('signIpn', () => {
  it('signs amount and identifier in uppercase hex', () => {
    expect(signIpn({ amount: '100.00', identifier: 'order-1' }, KEY)).toBe(SIGNATURE);
  });

  it.each([
    [{ amount: 100 as unknown as string, identifier: 'order-1' }, KEY, 'amount must be non-empty text'],
    [{ amount: '100', identifier: '' }, KEY, 'identifier must be non-empty text'],
    [{ amount: '100', identifier: 'order-1' }, '', 'the secret key must be non-empty text'],
    [undefined as unknown as { amount: string; identifier: string }, KEY, 'the IPN must be an object'],
  ])('rejects %j', (ipn, key, message) => {
    expect(() => signIpn(ipn, key)).toThrow(message);
  });
});

describe('verifyIpn', () => {
  it.each([
    ['a raw form', BODY],
    ['raw JSON', JSON.stringify(NESTED)],
    ['bytes', Buffer.from(BODY)],
    ['URLSearchParams', new URLSearchParams(FIELDS)],
    ['FormData', formData],
    ['fields with flat names', FIELDS],
    ['fields with nested names', NESTED],
  ])('accepts %s', (_, given) => {
    expect(verifyIpn(given, KEY)).toEqual({ valid: true, reason: null });
  });

  it.each([
    [undefined, 'the body is empty'],
    ['{"status":', 'not valid'],
    [{ ...FIELDS, status: 'failed' }, 'status is "failed"'],
    [{ ...FIELDS, signature: SIGNATURE.toLowerCase() }, 'upper'],
    [{ ...FIELDS, identifier: ['order-1', 'order-2'] }, 'identifier is missing'],
  ])('reports the mistake in %j', (given, reason) => {
    expect(verifyIpn(given, KEY)).toEqual({ valid: false, reason: expect.stringContaining(reason) });
  });

  it.each(['', undefined as unknown as string])('throws without a key: %j', (key) => {
    expect(() => verifyIpn(BODY, key)).toThrow('the secret key must be non-empty text');
  });
});
