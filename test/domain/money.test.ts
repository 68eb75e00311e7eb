import Big from 'big.js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import {
  add,
  amountFromNumber,
  chargeOn,
  compare,
  parseCurrency,
  renderAmount,
  subtract,
} from '../../src/domain/money.ts';
import { anyAmount, digits } from '../helpers/amounts.ts';

describe('amountFromNumber', () => {
  it.each([
    ['an exponent as written', 100, '1e2'],
    ['digits that parsing lost', 0.1, '0.10000000000000001'],
    ['the sum of two floats', 0.1 + 0.2, undefined],
    ['an infinite value', Number.POSITIVE_INFINITY, undefined],
  ])('rejects a number with %s', (_, value, source) => {
    expect(amountFromNumber(value, source)).toBeUndefined();
  });

  it('never changes the value', () => {
    const written = fc
      .tuple(fc.integer({ min: 0, max: 999_999_999 }), digits(0, 6))
      .map(([whole, fraction]) => (fraction ? `${whole}.${fraction}` : `${whole}`));
    fc.assert(
      fc.property(written, (source) => {
        const text = amountFromNumber(Number(source), source);
        // Values below a millionth have an exponent in their shortest text and are rejected.
        return text === undefined ? Number(source) < 1e-6 && Number(source) > 0 : new Big(text).eq(source);
      }),
    );
  });
});

describe('chargeOn', () => {
  it.each([
    ['49.90', '2', '0', 2, '1.00'],
    ['1.005', '100', '0', 2, '1.01'],
    ['10', '2.5', '0.30', 2, '0.55'],
    ['12345678901234567890.12345678', '2', '0', 2, '246913578024691357.80'],
    ['25', '2', '0', 0, '1'],
    ['1.005', '2', '0', 3, '0.020'],
  ])(
    'calculates the charge on %s at %s %% plus %s in a currency with %i decimals: %s, rounded half up',
    (amount, percent, fixed, decimals, charge) => {
      expect(chargeOn(amount, { percent, fixed }, { decimals })).toBe(charge);
    },
  );

  it('is within half a cent of the exact charge and rounds ties up', () => {
    fc.assert(
      fc.property(
        anyAmount,
        fc.integer({ min: 0, max: 10_000 }),
        fc.integer({ min: 0, max: 100_000 }),
        (amount, percent, fixed) => {
          const rate = { percent: String(percent / 100), fixed: String(fixed / 1000) };
          // In units of 10^-15, with whole numbers only.
          const unit = 10n ** 15n;
          const scaled = (text: string, decimals: number) =>
            BigInt(new Big(text).times(`1e${decimals}`).toFixed(0));
          const exact =
            scaled(amount, 8) * scaled(rate.percent, 2) * 1_000n + scaled(rate.fixed, 3) * 10n ** 12n;
          const given = scaled(chargeOn(amount, rate, { decimals: 2 }), 2) * (unit / 100n);
          const off = given - exact;
          return off > -unit / 200n && off <= unit / 200n;
        },
      ),
    );
  });
});

it('calculates exactly, in plain decimal text without an exponent', () => {
  fc.assert(
    fc.property(anyAmount, anyAmount, (a, b) => {
      const sum = add(a, b);
      expect(sum).toMatch(/^\d+(\.\d+)?$/);
      expect(compare(subtract(sum, b), a)).toBe(0);
      expect(subtract(a, b)).toMatch(/^-?\d+(\.\d+)?$/);
      expect(Math.sign(compare(a, b))).toBe(-Math.sign(compare(b, a)) || 0);
    }),
  );
});

describe('the format of an amount in an IPN', () => {
  it.each([
    ['100', 'stored', '100.00000000'],
    ['0.005', 'fixed:2', '0.01'],
    ['2.5', 'fixed:0', '3'],
  ] as const)('%s as %s is %s', (amount, format, text) => {
    expect(renderAmount(amount, format)).toBe(text);
  });

  it('keeps every character as sent, and the value as stored', () => {
    fc.assert(
      fc.property(anyAmount, (amount) => {
        expect(renderAmount(amount, 'sent')).toBe(amount);
        expect(compare(renderAmount(amount, 'stored'), amount)).toBe(0);
      }),
    );
  });
});

describe('parseCurrency', () => {
  it.each([
    ['NPR:Rs', { code: 'NPR', name: 'NPR', symbol: 'Rs', decimals: 2 }],
    ['AOA:K:z', { code: 'AOA', name: 'AOA', symbol: 'K:z', decimals: 2 }],
    ['CFA', { code: 'CFA', name: 'Franc CFA', symbol: 'cfa', decimals: 0 }],
  ])('reads %j', (text, currency) => {
    expect(parseCurrency(text)).toEqual(currency);
  });

  it.each(['', 'npr', 'N', 'EUROS', 'N PR', 'NPR:a-far-too-long-symbol'])(
    'rejects %j as wrong usage',
    (text) => {
      expect(() => parseCurrency(text)).toThrow(GatewayError);
      expect(() => parseCurrency(text)).toThrow(/must have the form CODE or CODE:symbol/);
    },
  );
});
