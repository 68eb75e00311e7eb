import { describe, expect, it } from 'vitest';
import { describeEvent, PROBLEM_WORDS } from '../../src/contract/checkout.ts';
import type { AttemptFailure, EgressFailure } from '../../src/contract/delivery.ts';
import {
  allowableHost,
  describeAttempts,
  describeBriefly,
  describeFailure,
  errorOf,
  fixOfFailure,
} from '../../src/contract/describe-delivery.ts';

const url = 'http://shop.test:3000/ipn';
const egress = (failure: Partial<EgressFailure>): EgressFailure => ({
  code: 'egress',
  reason: 'public',
  host: 'shop.test',
  address: '203.0.113.9',
  port: 3000,
  ...failure,
});

describe('the text of a failure', () => {
  it.each<[AttemptFailure, string, string]>([
    [{ code: 'connection_refused' }, 'connection refused: nothing is listening on shop.test:3000', 'Start'],
    [{ code: 'timed_out', limitMs: 2_500 }, 'timed out after 2.5 s', 'Return 200 first'],
    [{ code: 'expects_https' }, 'shop.test:3000 expects https', 'scheme'],
    [{ code: 'certificate' }, 'is not trusted: set NODE_EXTRA_CA_CERTS, or ipnCa', 'certificate'],
    [{ code: 'other', message: 'it burns' }, 'it burns', 'Start'],
  ])('%j names the problem and the fix', (failure, words, fix) => {
    expect(describeFailure(failure, { url })).toContain(words);
    expect(fixOfFailure(failure)).toContain(fix);
  });

  it.each<[Partial<EgressFailure>, string, string | null]>([
    [{}, 'shop.test (203.0.113.9) is neither', 'shop.test'],
    [
      { reason: 'metadata' },
      'shop.test (203.0.113.9) is the metadata and credentials service of a cloud',
      '203.0.113.9',
    ],
    [{ reason: 'unresolved', address: null }, 'shop.test is allowed only if', 'shop.test'],
    [{ reason: 'no_address', address: null }, 'shop.test has no address', null],
    [{ reason: 'emulator', address: '127.0.0.1' }, 'port 3000 is the emulator itself', null],
  ])('of the egress guard (%j) names the host to allow', (change, words, host) => {
    const text = describeFailure(egress(change), { url });
    expect(text).toContain(words);
    expect(allowableHost(egress(change))).toBe(host);
    expect(text.includes('--allow-ipn-host')).toBe(host !== null);
    if (host !== null) expect(text).toContain(`(--allow-ipn-host ${host} allows it)`);
    const fix = host === null ? 'Set ipn_url to' : `Restart the emulator with --allow-ipn-host ${host}, or`;
    expect(fixOfFailure(egress(change))).toContain(fix);
  });

  it('says what a fault rule did, or which response was expected', () => {
    const fault = { route: 'ipn', drop: true as const };
    expect(errorOf({ url, failure: { code: 'fault' }, fault })).toBe(
      'a fault rule dropped it; nothing was sent (the command "faults clear ipn" removes the rule)',
    );
    expect(errorOf({ url, failure: { code: 'fault' }, fault: null })).toContain(
      'a fault rule applied; nothing was sent',
    );
    const answered = { url, failure: { code: 'answered' } as const, fault: null, responseStatus: 503 };
    expect(errorOf(answered)).toBe('the receiver returned 503');
    expect(describeBriefly(answered)).toBe('returned 503');
    expect(
      describeBriefly({ ...answered, failure: { code: 'fault' }, fault: { route: 'ipn', status: 503 } }),
    ).toBe('a fault rule returned 503; nothing was sent');
  });
});

describe('the text of a payment event', () => {
  it.each([
    [{ value: 'a@b.c' }, 'a@b.c'],
    [{ value: null }, null],
    [{ value: '', problem: 'email_invalid' as const }, 'nothing (not an e-mail address)'],
    [
      { value: '1'.repeat(300), problem: 'code_wrong' as const },
      `${'1'.repeat(60)}… (${PROBLEM_WORDS.code_wrong})`,
    ],
  ])('for %j is %j', (event, detail) => {
    expect(describeEvent(event)).toBe(detail);
  });
});

describe('the attempts of an IPN', () => {
  const words = (...made: [status: number | null, sentAgain?: 'user' | 'rule'][]) =>
    describeAttempts(
      made.map(([responseStatus, sentAgain], index) => ({
        number: index + 1,
        responseStatus,
        ...(sentAgain && { sentAgain }),
      })),
    );

  it('says who made each, and what it got', () => {
    expect(words([302], [null, 'user'], [200, 'user'])).toBe(
      'The first got 302. You resent it: no response, 200.',
    );
    expect(words([503], [503], [200], [500, 'user'])).toBe(
      'The first got 503. The emulator retried: 503, 200. You resent it: 500.',
    );
  });

  it('names the rule that repeats an IPN, and counts equal outcomes', () => {
    expect(words([200], [200, 'rule'], [500, 'user'], [500, 'user'])).toBe(
      'The first got 200. Your fault rule sent it again: 200. You resent it: 500 ×2.',
    );
    const many = Array.from({ length: 41 }, (_, index): [number, 'user'] => [500 + (index % 2), 'user']);
    expect(words([500], ...many)).toMatch(/^The first got 500\. You resent it: …, (50[01](, |\.)){10}$/);
  });
});
