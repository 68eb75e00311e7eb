import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../src/contract/error.ts';
import { COLLECTION_NAMES } from '../../src/contract/state.ts';
import { SNAPSHOT_VERSION } from '../../src/store/migrations.ts';
import { emptySnapshot, parseChange, parseSnapshot } from '../../src/store/snapshot.ts';
import { fullSnapshot, wallet } from '../helpers/records.ts';

const paid = () => fullSnapshot().payments[0];
const due = () => fullSnapshot().deliveries[0];
const tried = () => fullSnapshot().attempts[0];

describe('a snapshot', () => {
  it('gets empty collections for missing ones', () => {
    expect(parseSnapshot({ version: SNAPSHOT_VERSION }, 'it')).toEqual(emptySnapshot());
  });

  it.each([
    ['wallets', [{ ...wallet(), balance: '1e5' }], 'wallets.0.balance'],
    ['wallets', [wallet(), 7], 'wallets.1'],
    ['wallets', {}, 'wallets'],
    ['payments', [{ ...paid(), status: 'paid' }], 'payments.0.status'],
    ['payments', [{ ...paid(), amount: 'much' }], 'payments.0.amount'],
    ['payments', [{ ...paid(), expiresAt: 'soon' }], 'payments.0.expiresAt'],
    ['payments', [{ ...paid(), siteLogo: undefined }], 'payments.0.siteLogo'],
    ['deliveries', [{ ...due(), nextAttemptAt: 'tomorrow' }], 'deliveries.0.nextAttemptAt'],
    ['deliveries', [{ ...due(), nextAttemptAt: '2026-13-01T00:00:00.000Z' }], 'deliveries.0.nextAttemptAt'],
    ['deliveries', [{ ...due(), attemptCount: -1 }], 'deliveries.0.attemptCount'],
    ['attempts', [{ ...tried(), requestHeaders: [['a', 'b', 'c']] }], 'attempts.0.requestHeaders.0'],
  ])('with damaged %s is rejected, and the error names the place', (name, value, where) => {
    const act = () => parseSnapshot({ ...fullSnapshot(), [name]: value }, 'the request body');
    expect(act).toThrow(GatewayError);
    expect(act).toThrow(`the request body is damaged: ${where}`);
  });

  it.each([
    ['wallets', [{ ...wallet(), holdr: 'x' }], 'wallets.0: unknown key "holdr": did you mean holder?'],
    [
      'payments',
      [{ ...paid(), history: [{ ...paid()?.history[0], evnt: 'x' }] }],
      'payments.0.history.0: unknown key "evnt": did you mean event?',
    ],
    [
      'attempts',
      [{ ...tried(), failure: { code: 'tls', message: 'x', limitMs: 1 } }],
      'attempts.0.failure: unknown key "limitMs"',
    ],
  ])('with an unknown key in %s is rejected, and the error names it', (name, value, problem) => {
    const act = () => parseSnapshot({ ...fullSnapshot(), [name]: value }, 'it');
    expect(act).toThrow(`it is damaged: ${problem}`);
  });

  it('that is any JSON is accepted or rejected with a clear error', () => {
    const collection = fc.oneof(fc.jsonValue(), fc.array(fc.record({ id: fc.string() })));
    const anySnapshot = fc.record(
      {
        version: fc.oneof(fc.constant(SNAPSHOT_VERSION), fc.jsonValue()),
        ...Object.fromEntries(COLLECTION_NAMES.map((name) => [name, collection])),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), anySnapshot), (json) => {
        for (const read of [() => parseSnapshot(json, 'it'), () => parseChange(JSON.stringify(json), 'it')]) {
          try {
            read();
          } catch (error) {
            expect(error).toMatchObject({ name: 'GatewayError', code: 'state_damaged' });
          }
        }
      }),
    );
  });
});

it.each([
  ['a record that is not valid', { wallets: [{ id: 'x' }] }, 'damaged: wallets.0'],
  ['a list without records', { wallets: 'none' }, 'damaged: wallets'],
  ['an unknown key', { rezet: true }, 'unknown key "rezet": did you mean reset?'],
  ['a reset that is not true', { reset: 1 }, 'damaged: reset is not true'],
  ['a list to remove', { removed: ['a'] }, 'removed'],
  ['an unknown collection to remove', { removed: { paymentz: ['a'] } }, 'paymentz'],
  ['an invalid id to remove', { removed: { payments: [1] } }, 'removed'],
])('a change with %s is rejected, and the error names it', (_, change, problem) => {
  expect(() => parseChange(change, 'line 2')).toThrow(problem);
});
