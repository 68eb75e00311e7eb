import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttemptReport,
  encodeIpn,
  IPN_STATUS,
  ipnFields,
  newDelivery,
  recordAttempt,
  SIGNED_ANEW,
  sign,
} from '../../src/domain/ipn.ts';
import type { SettingsChanges } from '../helpers/records.ts';
import {
  applied,
  context,
  dueDelivery,
  merchant,
  NOW,
  pendingPayment,
  SECRET_KEY,
  settings,
  state,
} from '../helpers/records.ts';

interface Vector {
  note: string;
  amount: string;
  identifier: string;
  secretKey: string;
  signature: string;
}

/*
 * How a known answer is formed by hand, without any code of ours (documented: upper-case hexadecimal HMAC-SHA256 over
 * the amount directly followed by the identifier, keyed with the secret key). For amount 49.9, identifier order-1:
 *
 *   $ printf '%s' '49.9order-1' | openssl dgst -sha256 -hmac sec_sim_9876543210
 *   SHA2-256(stdin)= 927c14a3c487c1431cddb586a5a9a7c68347d2cd153c7db8b0c77f8c3dbdea2f
 *
 * and then in upper case. All of fixtures/signatures.json was computed so with Python's hmac module
 * (`hmac.new(key.encode(), (amount + identifier).encode(), 'sha256')`), two of them again with openssl as above.
 */
const BY_HAND = '927C14A3C487C1431CDDB586A5A9A7C68347D2CD153C7DB8B0C77F8C3DBDEA2F';
const vectors = JSON.parse(
  await readFile(new URL('../../fixtures/signatures.json', import.meta.url), 'utf8'),
) as Vector[];

/** Reads a form as PHP reads it into `$_POST`: `data[currency][code]=USD` becomes nested. */
function phpPost(body: string): Record<string, unknown> {
  const post: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(body)) {
    const path = name.split(/[[\]]+/).filter((part) => part !== '');
    let level = post;
    for (const part of path.slice(0, -1)) {
      level[part] ??= {};
      level = level[part] as Record<string, unknown>;
    }
    level[path.at(-1) ?? ''] = value;
  }
  return post;
}

function payment(changes: Parameters<typeof pendingPayment>[1] = {}) {
  return pendingPayment(state(), changes);
}

function ipnOf(changes: Parameters<typeof pendingPayment>[1] = {}, set: SettingsChanges = {}) {
  return ipnFields(payment(changes), 'success', 'Ada Lovelace', merchant(), context(set));
}

describe('the signature', () => {
  it('is the one worked out by hand', () => {
    expect(sign('49.9', 'order-1', SECRET_KEY)).toBe(BY_HAND);
  });

  it.each(vectors)(
    'of $amount + $identifier is the known answer: $note',
    ({ amount, identifier, secretKey, signature }) => {
      expect(sign(amount, identifier, secretKey)).toBe(signature);
    },
  );

  it('depends on every character of the amount', () => {
    const signatures = ['100', '100.0', '100.00', '0100'].map((amount) =>
      sign(amount, 'order-1', SECRET_KEY),
    );
    expect(new Set(signatures).size).toBe(4);
  });

  it('is upper-case hexadecimal of 256 bits for any input', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.string({ minLength: 1 }),
        (amount, identifier, key) => /^[0-9A-F]{64}$/.test(sign(amount, identifier, key)),
      ),
    );
  });
});

describe('the fields of an IPN', () => {
  it('are those that receivers read', () => {
    expect(ipnOf({ amount: '49.9', charge: '1.00' })).toEqual({
      status: 'success',
      signature: BY_HAND,
      identifier: 'order-1',
      data: {
        payment_trx: 'TRX000000002',
        amount: '49.9',
        account_holder: 'Ada Lovelace',
        payment_type: 'hosted',
        payment_timestamp: '2026-01-15 10:30:00',
        charge: '1.00',
        currency: { code: 'USD', symbol: '$' },
      },
    });
  });

  it.each([
    ['sent', '49.9'],
    ['stored', '49.90000000'],
    ['fixed:2', '49.90'],
    ['fixed:0', '50'],
  ] as const)(
    'with the amount format %s: the amount is %s and that very text is signed',
    (amountFormat, amount) => {
      const { data, signature } = ipnOf({ amount: '49.9' }, { ipn: { amountFormat } });
      expect(data.amount).toBe(amount);
      expect(signature).toBe(sign(amount, 'order-1', SECRET_KEY));
    },
  );

  it.each([
    ['EUR', '€'],
    ['GNF', 'fg'],
    ['CFA', 'cfa'],
    ['NPR', 'NPR'],
  ])('name the currency %s with the symbol %s', (currency, symbol) => {
    expect(ipnOf({ currency }).data.currency).toEqual({ code: currency, symbol });
  });

  it.each([
    ['2026-01-15T10:30:00.123Z', '2026-01-15 10:30:00'],
    ['2026-12-31T23:59:59.999Z', '2026-12-31 23:59:59'],
    ['2024-02-29T00:00:00.000Z', '2024-02-29 00:00:00'],
  ])('give the initiation at %s as %s, in UTC', (createdAt, text) => {
    expect(ipnOf({ createdAt }).data.payment_timestamp).toBe(text);
  });

  it('say success for a payment that succeeded, as documented', () => {
    expect(IPN_STATUS).toEqual({
      succeeded: 'success',
      canceled: 'canceled',
      failed: 'failed',
      expired: 'expired',
    });
  });
});

describe('the bytes of an IPN', () => {
  it('as a form are what PHP reads as nested fields', () => {
    const fields = ipnOf({ amount: '49.9' });
    const { contentType, body } = encodeIpn(fields, 'form');
    expect(contentType).toBe('application/x-www-form-urlencoded');
    expect(phpPost(body)).toEqual(fields);
  });

  it('as a form carry the literal bracket names, in the observed spelling', () => {
    const names = [...new URLSearchParams(encodeIpn(ipnOf(), 'form').body).keys()];
    expect(names).toEqual([
      'status',
      'signature',
      'identifier',
      'data[payment_trx]',
      'data[amount]',
      'data[account_holder]',
      'data[payment_type]',
      'data[payment_timestamp]',
      'data[charge]',
      'data[currency][code]',
      'data[currency][symbol]',
    ]);
  });

  it('as a form escape whatever would end a field or a name', () => {
    const fields = ipnOf({ identifier: 'a&b=c+d e%41', customerName: '' });
    const { body } = encodeIpn(
      { ...fields, data: { ...fields.data, account_holder: 'Zoë & Søn=x+y 😀' } },
      'form',
    );
    expect(body).toMatch(/^[\w.*%+&=-]+$/);
    expect(new URLSearchParams(body).get('identifier')).toBe('a&b=c+d e%41');
    expect(new URLSearchParams(body).get('data[account_holder]')).toBe('Zoë & Søn=x+y 😀');
  });

  it('as JSON keep the amount a string, digit by digit', () => {
    const fields = ipnOf({ amount: '100.00' });
    const { contentType, body } = encodeIpn(fields, 'json');
    expect(contentType).toBe('application/json');
    expect(body).toContain('"amount":"100.00"');
    expect(JSON.parse(body)).toEqual(fields);
  });

  it('give a receiver, in either format, the text that was signed', () => {
    const anyText = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 });
    const anyAmount = fc
      .tuple(fc.nat(), fc.nat({ max: 99_999_999 }))
      .map(([whole, part]) => `${whole}.${part}`);
    fc.assert(
      fc.property(
        anyText,
        anyAmount,
        fc.constantFrom('form' as const, 'json' as const),
        (identifier, amount, format) => {
          const { body } = encodeIpn(ipnOf({ identifier, amount }), format);
          const post = (format === 'form' ? phpPost(body) : JSON.parse(body)) as ReturnType<typeof ipnOf>;
          expect(post.identifier).toBe(identifier);
          expect(post.signature).toBe(sign(post.data.amount, post.identifier, SECRET_KEY));
        },
      ),
    );
  });
});

describe('a new delivery', () => {
  it('is due at once and holds the bytes that every attempt sends', () => {
    const paid = payment();
    const delivery = newDelivery(paid, 'success', 'Ada Lovelace', merchant(), context());
    const fields = ipnFields(paid, 'success', 'Ada Lovelace', merchant(), context());
    expect(delivery).toEqual({
      id: 'ipn_0000000000000001',
      paymentId: paid.id,
      merchantId: 'mer_1',
      identifier: 'order-1',
      url: 'http://127.0.0.1:3000/ipn?order=1',
      status: 'success',
      state: 'pending',
      ...encodeIpn(fields, 'form'),
      signedText: '100.00order-1',
      signedWith: 'pub_sim_0123456789',
      once: false,
      attemptCount: 0,
      createdAt: '2026-01-15T10:30:00.123Z',
      nextAttemptAt: '2026-01-15T10:30:00.123Z',
      note: null,
    });
  });

  it('does not hold the secret key anywhere', () => {
    expect(JSON.stringify(newDelivery(payment(), 'success', '', merchant(), context()))).not.toContain(
      SECRET_KEY,
    );
  });
});

describe('an attempt', () => {
  const REPORT: AttemptReport & { startedAt: string; refused: boolean } = {
    startedAt: '2026-01-15T10:30:00.100Z',
    durationMs: 23,
    url: 'http://127.0.0.1:3000/ipn?order=1',
    requestHeaders: [['Host', '127.0.0.1:3000']],
    requestBody: 'status=success',
    responseStatus: 200,
    responseHeaders: [],
    responseBody: 'OK',
    error: null,
    refused: false,
  };
  const SERVER_ERROR = {
    ...REPORT,
    responseStatus: 500,
    error: 'the receiver answered 500: only 2xx counts as received',
  };
  const SCHEDULE = settings().ipn.schedule;

  function held() {
    const filled = state();
    const delivery = dueDelivery('http://127.0.0.1:3000/ipn?order=1');
    filled.apply({ deliveries: [delivery] });
    return { filled, delivery };
  }

  const withFraction = (fraction: number, set: SettingsChanges = {}) => {
    const using = context(set);
    return { ...using, ids: { ...using.ids, fraction: () => fraction } };
  };

  it('that was answered ends the delivery, and both sides of it are kept', () => {
    const { filled, delivery } = held();
    const after = applied(filled, recordAttempt(filled, delivery.id, REPORT, context()));
    const { refused: _, ...facts } = REPORT;
    expect(after).toEqual({
      ...delivery,
      state: 'delivered',
      attemptCount: 1,
      nextAttemptAt: null,
      note: null,
    });
    expect(filled.attemptsOf(delivery.id)).toEqual([
      { id: 'att_0000000000000001', deliveryId: delivery.id, number: 1, ...facts },
    ]);
  });

  it('that failed is repeated by the schedule, with the same bytes, until the delivery has failed', () => {
    const { filled, delivery } = held();
    const using = context();
    const waits: (number | null)[] = [];
    for (let number = 1; number <= SCHEDULE.length + 1; number++) {
      const after = applied(filled, recordAttempt(filled, delivery.id, SERVER_ERROR, using));
      expect(after).toMatchObject({ attemptCount: number, body: delivery.body, note: SERVER_ERROR.error });
      expect(after?.state).toBe(number <= SCHEDULE.length ? 'pending' : 'failed');
      waits.push(after?.nextAttemptAt ? Date.parse(after.nextAttemptAt) - NOW : null);
    }
    expect(waits).toEqual([1_000, 5_000, 30_000, 120_000, 600_000, null]);
    expect(filled.attemptsOf(delivery.id).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('that succeeds after failures ends the delivery without a note', () => {
    const { filled, delivery } = held();
    applied(filled, recordAttempt(filled, delivery.id, SERVER_ERROR, context()));
    const after = applied(filled, recordAttempt(filled, delivery.id, REPORT, context()));
    expect(after).toMatchObject({ state: 'delivered', attemptCount: 2, nextAttemptAt: null, note: null });
  });

  it('that the egress guard refused is not repeated, and says why', () => {
    const { filled, delivery } = held();
    const error =
      '8.8.8.8 is neither a loopback nor a private address (--allow-ipn-host 8.8.8.8 lets it out)';
    const refused = { ...REPORT, responseStatus: null, responseBody: null, error, refused: true };
    const after = applied(filled, recordAttempt(filled, delivery.id, refused, context()));
    expect(after).toMatchObject({ state: 'refused', attemptCount: 1, nextAttemptAt: null, note: error });
  });

  it('fails at once when the schedule is empty', () => {
    const { filled, delivery } = held();
    const using = context({ ipn: { schedule: [] } });
    expect(recordAttempt(filled, delivery.id, SERVER_ERROR, using).result?.state).toBe('failed');
  });

  it('is repeated at most a tenth earlier than planned, and never later, whatever the jitter', () => {
    const anyFraction = fc.integer({ min: 0, max: 999_999 }).map((millionths) => millionths / 1_000_000);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_400_000 }), anyFraction, (wait, fraction) => {
        const { filled, delivery } = held();
        const using = withFraction(fraction, { ipn: { schedule: [wait] } });
        const next = recordAttempt(filled, delivery.id, SERVER_ERROR, using).result?.nextAttemptAt;
        const waited = Date.parse(next ?? '') - NOW;
        return waited <= wait && waited >= wait * 0.9;
      }),
      {
        examples: [
          [6, 0.999999],
          [1, 0.999999],
          [1_000, 0.999999],
          [1_000, 0],
        ],
      },
    );
  });

  it('spreads retries by the jitter', () => {
    const { filled, delivery } = held();
    const next = (fraction: number) =>
      recordAttempt(filled, delivery.id, SERVER_ERROR, withFraction(fraction)).result?.nextAttemptAt;
    expect(next(0)).toBe('2026-01-15T10:30:01.123Z');
    expect(next(0.5)).toBe('2026-01-15T10:30:01.073Z');
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['2', {}, 2_000, 'seconds'],
    [' 7 ', {}, 7_000, 'seconds with blanks'],
    ['0', {}, 1_000, 'less than the schedule says'],
    ['3600', {}, 3_600_000, 'an hour'],
    ['999999999999', {}, 3_600_000, 'more than an hour'],
    ['9'.repeat(400), {}, 3_600_000, 'more than a number holds'],
    ['Thu, 15 Jan 2026 10:30:30 GMT', {}, 29_877, 'a date, by the clock of the emulator'],
    [
      'Thu, 01 Jan 2099 00:00:10 GMT',
      { Date: 'Thu, 01 Jan 2099 00:00:00 GMT' },
      10_000,
      "a date, by the answer's own",
    ],
    ['Thu, 15 Jan 2015 10:30:30 GMT', {}, 1_000, 'a date in the past'],
    ['soon', {}, 1_000, 'nonsense'],
    ['-5', {}, 1_000, 'a negative number'],
    ['', {}, 1_000, 'nothing'],
  ])('that was answered with Retry-After %j %j is repeated after %d ms: %s', (asked, more, wait) => {
    const { filled, delivery } = held();
    const headers = Object.entries({ 'Retry-AFTER': asked, ...more });
    const report = { ...SERVER_ERROR, responseStatus: 429, responseHeaders: headers };
    const using = withFraction(0, { ipn: { schedule: [1_000] } });
    const next = recordAttempt(filled, delivery.id, report, using).result?.nextAttemptAt;
    expect(Date.parse(next ?? '') - NOW).toBe(wait);
  });

  it('is not repeated because of Retry-After when the schedule is used up, or when it was made by hand', () => {
    const { filled, delivery } = held();
    const report = { ...SERVER_ERROR, responseHeaders: [['Retry-After', '1']] as [string, string][] };
    const usedUp = context({ ipn: { schedule: [] } });
    expect(recordAttempt(filled, delivery.id, report, usedUp).result?.state).toBe('failed');
    filled.apply({ deliveries: [{ ...delivery, once: true }] });
    expect(recordAttempt(filled, delivery.id, report, context()).result?.state).toBe('failed');
  });

  it('of a delivery that was signed anew keeps saying so', () => {
    const { filled, delivery } = held();
    filled.apply({ deliveries: [{ ...delivery, note: SIGNED_ANEW }] });
    const failed = applied(filled, recordAttempt(filled, delivery.id, SERVER_ERROR, context()));
    expect(failed?.note).toBe(`${SERVER_ERROR.error}; ${SIGNED_ANEW}`);
    const after = applied(filled, recordAttempt(filled, delivery.id, REPORT, context()));
    expect(after?.note).toBe(SIGNED_ANEW);
  });

  it('of a delivery that a reset took away changes nothing', () => {
    expect(recordAttempt(state(), 'ipn_gone', REPORT, context())).toEqual({ change: {}, result: undefined });
  });
});
