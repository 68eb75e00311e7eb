import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { egressFailure, recordAttempt, resend } from '../../src/domain/delivery.ts';
import {
  applied,
  context,
  dueDelivery,
  NOW,
  REPORT,
  type SettingsChanges,
  state,
} from '../helpers/records.ts';

describe('an attempt', () => {
  const SERVER_ERROR = { ...REPORT, responseStatus: 500, failure: { code: 'answered' } as const };
  const SCHEDULE = [1_000, 5_000, 30_000, 120_000, 600_000];
  const WITH_RETRIES = { ipn: { schedule: SCHEDULE } };

  function held() {
    const filled = state();
    const delivery = dueDelivery('http://127.0.0.1:4/ipn?order=1');
    filled.apply({ deliveries: [delivery] });
    return { filled, delivery };
  }

  const withFraction = (fraction: number, set: SettingsChanges = {}) => {
    const using = context(set);
    return { ...using, ids: { ...using.ids, fraction: () => fraction } };
  };

  it('ends the delivery if it succeeds, and is stored with request and response', () => {
    const { filled, delivery } = held();
    const after = applied(filled, recordAttempt(filled, delivery.id, REPORT, context()));
    expect(after).toEqual({ ...delivery, state: 'delivered', attemptCount: 1, nextAttemptAt: null });
    expect(filled.attemptsOf(delivery.id)).toEqual([
      { id: 'att_0000000000000001', deliveryId: delivery.id, number: 1, ...REPORT },
    ]);
  });

  it('is retried on schedule with the same bytes until the delivery fails', () => {
    const { filled, delivery } = held();
    const using = context(WITH_RETRIES);
    const waits: (number | null)[] = [];
    for (let number = 1; number <= SCHEDULE.length + 1; number++) {
      const after = applied(filled, recordAttempt(filled, delivery.id, SERVER_ERROR, using));
      expect(after).toMatchObject({ attemptCount: number, body: delivery.body });
      expect(after?.state).toBe(number <= SCHEDULE.length ? 'pending' : 'failed');
      waits.push(after?.nextAttemptAt ? Date.parse(after.nextAttemptAt) - NOW : null);
    }
    expect(waits).toEqual([1_000, 5_000, 30_000, 120_000, 600_000, null]);
    expect(filled.attemptsOf(delivery.id).map(({ number }) => number)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('says whether a user or a rule sent the IPN again, and a resend lasts for one attempt', () => {
    const { filled, delivery } = held();
    const using = context(WITH_RETRIES);
    const record = (isExtra = false) =>
      applied(filled, recordAttempt(filled, delivery.id, SERVER_ERROR, using, isExtra));
    const again = () => applied(filled, resend(filled, delivery.id, undefined, using));
    again();
    record();
    record();
    again();
    record(true);
    record();
    record();
    expect(filled.attemptsOf(delivery.id).map(({ sentAgain }) => sentAgain)).toEqual([
      undefined,
      undefined,
      'rule',
      'user',
      undefined,
    ]);
  });

  it('is not retried if the egress guard blocked it, and says why', () => {
    const { filled, delivery } = held();
    const failure = { code: 'egress', reason: 'public', host: '8.8.8.8', address: null, port: 80 } as const;
    const refused = { ...REPORT, responseStatus: null, responseBody: null, failure };
    const after = applied(filled, recordAttempt(filled, delivery.id, refused, context(WITH_RETRIES)));
    expect(after).toMatchObject({ state: 'refused', attemptCount: 1, nextAttemptAt: null });
    expect(after && egressFailure(filled, after)).toEqual(failure);
  });

  it('is retried at most 10 % early and never late, for any jitter', () => {
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

  it('is retried earlier with jitter', () => {
    const { filled, delivery } = held();
    const { result } = recordAttempt(filled, delivery.id, SERVER_ERROR, withFraction(0.5, WITH_RETRIES));
    expect(result?.nextAttemptAt).toBe('2026-01-15T10:30:01.073Z');
  });

  it.each<[string, Record<string, string>, number, string]>([
    ['2', {}, 2_000, 'seconds'],
    ['0', {}, 1_000, 'less than the schedule'],
    ['3600', {}, 3_600_000, 'an hour'],
    ['999999999999', {}, 3_600_000, 'more than an hour'],
    ['Thu, 15 Jan 2026 10:30:30 GMT', {}, 29_877, "a date, on the emulator's clock"],
    [
      'Thu, 01 Jan 2099 00:00:10 GMT',
      { Date: 'Thu, 01 Jan 2099 00:00:00 GMT' },
      10_000,
      'a date, relative to the date of the response',
    ],
    ['soon', {}, 1_000, 'nonsense'],
  ])('with Retry-After %j (%j) is retried after %d ms: %s', (retryAfter, more, wait) => {
    const { filled, delivery } = held();
    const headers = Object.entries({ 'Retry-AFTER': retryAfter, ...more });
    const report = { ...SERVER_ERROR, responseStatus: 429, responseHeaders: headers };
    const using = withFraction(0, { ipn: { schedule: [1_000] } });
    const next = recordAttempt(filled, delivery.id, report, using).result?.nextAttemptAt;
    expect(Date.parse(next ?? '') - NOW).toBe(wait);
  });

  it('is not retried if the schedule is used up or the IPN was sent by hand, despite Retry-After', () => {
    const { filled, delivery } = held();
    const report = { ...SERVER_ERROR, responseHeaders: [['Retry-After', '1']] as [string, string][] };
    expect(recordAttempt(filled, delivery.id, report, context()).result?.state).toBe('failed');
    filled.apply({ deliveries: [{ ...delivery, once: true }] });
    const { result } = recordAttempt(filled, delivery.id, report, context(WITH_RETRIES));
    expect(result?.state).toBe('failed');
  });

  it('does not clear the mark that the delivery was signed again', () => {
    const { filled, delivery } = held();
    filled.apply({ deliveries: [{ ...delivery, signedAnew: true }] });
    const failed = applied(filled, recordAttempt(filled, delivery.id, SERVER_ERROR, context()));
    expect(failed?.signedAnew).toBe(true);
    const after = applied(filled, recordAttempt(filled, delivery.id, REPORT, context()));
    expect(after?.signedAnew).toBe(true);
  });
});
