import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIds, randomBelow, randomText } from '../../src/domain/ids.ts';

const filled = (byte: number) => (_: string, length: number) => new Uint8Array(length).fill(byte);
const anyBytes = fc.uint8Array({ minLength: 64, maxLength: 64 });

describe('createIds', () => {
  it('creates ids in the documented form from any bytes', () => {
    fc.assert(
      fc.property(anyBytes, (bytes) => {
        const ids = createIds((_, length) => bytes.subarray(0, length));
        expect(ids.payment()).toMatch(/^pay_[0-9a-z]{24}$/);
        expect(ids.trx()).toMatch(/^[A-Z0-9]{12}$/);
        expect(ids.delivery()).toMatch(/^ipn_[0-9a-z]{16}$/);
        expect(ids.attempt()).toMatch(/^att_[0-9a-z]{16}$/);
        expect(ids.message()).toMatch(/^msg_[0-9a-z]{16}$/);
        expect(ids.merchant()).toMatch(/^mer_[0-9a-z]{12}$/);
        expect(ids.card()).toMatch(/^card_[0-9a-z]{20}$/);
        expect(ids.cardTransaction()).toMatch(/^ctx_[0-9a-z]{16}$/);
        expect(ids.cardDigits()).toMatch(/^\d{9}$/);
        expect(ids.cvc()).toMatch(/^\d{3}$/);
        expect(ids.code()).toMatch(/^\d{6}$/);
      }),
    );
  });

  it('creates a verification code of six digits from the smallest and the largest bytes', () => {
    expect(createIds(filled(0)).code()).toBe('000000');
    expect(createIds(filled(255)).code()).toBe('999999');
  });
});

describe('random values', () => {
  it('are below their limit for any bytes at any position of a buffer', () => {
    fc.assert(
      fc.property(
        anyBytes,
        fc.integer({ min: 0, max: 60 }),
        fc.integer({ min: 1, max: 2 ** 32 }),
        (bytes, offset, limit) => {
          const value = randomBelow(() => bytes.subarray(offset, offset + 4), 'any', limit);
          expect(Number.isInteger(value) && value >= 0 && value < limit).toBe(true);
        },
      ),
    );
  });

  it('are texts of the requested length and alphabet', () => {
    expect(randomText(filled(1), 'any', 3, 'ab')).toBe('bbb');
    expect(createIds(filled(255)).fraction('any')).toBeLessThan(1);
  });
});
