import { describe, expect, it } from 'vitest';
import { sameSecret } from '../../src/contract/secret.ts';
import {
  addMerchant,
  credit,
  debit,
  defaultMerchant,
  findByKey,
  findWallet,
  firstWallet,
  fundWallet,
  newKeyPair,
  replaceKeys,
  requireMerchant,
} from '../../src/domain/merchant.ts';
import { State } from '../../src/domain/state.ts';
import {
  applied,
  context,
  merchant,
  NOW,
  PUBLIC_KEY,
  SECRET_KEY,
  state,
  wallet,
} from '../helpers/records.ts';

const KEYS = { publicKey: 'pub_sim_new', secretKey: 'sec_sim_new' };
const zeros = (_: string, length: number) => new Uint8Array(length);

describe('keys', () => {
  it('lead to their merchant, each kind by its own door', () => {
    expect(findByKey(state(), 'publicKey', PUBLIC_KEY)?.id).toBe('mer_1');
    expect(findByKey(state(), 'secretKey', SECRET_KEY)?.id).toBe('mer_1');
    expect(findByKey(state(), 'publicKey', SECRET_KEY)).toBeUndefined();
    expect(findByKey(state(), 'secretKey', PUBLIC_KEY)).toBeUndefined();
    expect(findByKey(state(), 'secretKey', '')).toBeUndefined();
  });

  it.each([
    ['abc', 'abc', true],
    ['abc', 'abd', false],
    ['abc', 'ab', false],
    ['é', 'e', false],
    ['', '', true],
  ])('%j and %j are the same: %s', (a, b, same) => {
    expect(sameSecret(a, b)).toBe(same);
  });

  it('that replace a pair end the old one with the same change', () => {
    const held = state();
    applied(held, replaceKeys(merchant(), KEYS, context()));
    expect(findByKey(held, 'publicKey', PUBLIC_KEY)).toBeUndefined();
    expect(findByKey(held, 'secretKey', SECRET_KEY)).toBeUndefined();
    expect(findByKey(held, 'publicKey', KEYS.publicKey)).toMatchObject({ id: 'mer_1', ...KEYS });
  });

  it('that were replaced leave a fingerprint and a time, ten of them at most, and nothing else', () => {
    let current = merchant();
    for (let number = 0; number < 12; number++) {
      const keys = { publicKey: `pub_${number}`, secretKey: `sec_${number}` };
      current = replaceKeys(current, keys, { ...context(), now: NOW + number }).result;
    }
    const { fingerprint } = context().ipn;
    expect(current.formerKeys).toHaveLength(10);
    expect(current.formerKeys?.[0]).toEqual({
      replacedAt: new Date(NOW + 11).toISOString(),
      fingerprint: fingerprint('sec_10'),
    });
    expect(JSON.stringify(current.formerKeys)).not.toContain('sec_');
  });

  it('are of a form that nobody takes for a real one, and fit the limit of 50 characters', () => {
    const pair = newKeyPair(zeros);
    expect(pair.publicKey).toMatch(/^pub_sim_[0-9a-z]{32}$/);
    expect(pair.secretKey).toMatch(/^sec_sim_[0-9a-z]{32}$/);
    expect(pair.publicKey.length).toBeLessThanOrEqual(50);
  });
});

describe('merchants', () => {
  it('are added with their own keys and no money', () => {
    const held = state();
    const added = applied(held, addMerchant(held, 'mer_2', 'second', KEYS, context()));
    expect(added).toEqual({
      id: 'mer_2',
      name: 'second',
      ...KEYS,
      balances: {},
      createdAt: '2026-01-15T10:30:00.123Z',
    });
    expect(held.merchants.size).toBe(2);
  });

  it.each(['', '   ', 'x'.repeat(61), 'default'])('are not added under the name %.20j', (name) => {
    expect(() => addMerchant(state(), 'mer_2', name, KEYS, context())).toThrow(
      expect.objectContaining({ code: 'invalid_fields' }),
    );
  });

  it('may have a name of 60 characters, counted as people count them', () => {
    expect(addMerchant(state(), 'mer_2', '😀'.repeat(60), KEYS, context()).result.name).toHaveLength(120);
  });

  it('are found by id or name, and by default it is the first', () => {
    expect(requireMerchant(state(), 'mer_1').name).toBe('default');
    expect(requireMerchant(state(), 'default').id).toBe('mer_1');
    expect(defaultMerchant(state()).id).toBe('mer_1');
    expect(() => requireMerchant(state(), 'nobody')).toThrow(
      /no merchant is called "nobody"; known: default/,
    );
    expect(() => defaultMerchant(new State())).toThrow(expect.objectContaining({ code: 'state_damaged' }));
  });
});

describe('wallets', () => {
  it('belong to an e-mail in any case and a currency', () => {
    expect(findWallet(state(), ' WALLET@example.com ', 'USD')?.id).toBe('wal_rich_usd');
    expect(findWallet(state(), 'wallet@example.com', 'EUR')?.id).toBe('wal_eur');
    expect(findWallet(state(), 'wallet@example.com', 'GNF')).toBeUndefined();
    expect(firstWallet(state(), 'USD')?.id).toBe('wal_first_usd');
    expect(firstWallet(state(), 'GNF')).toBeUndefined();
  });

  it('are debited exactly, below zero too, and merchants credited per currency; the given record stays as it was', () => {
    const given = wallet({ balance: '0.3' });
    expect(debit(given, '0.1').balance).toBe('0.2');
    expect(debit(given, '1').balance).toBe('-0.7');
    expect(given.balance).toBe('0.3');
    expect(credit(merchant({ balances: { USD: '0.1' } }), 'USD', '0.2').balances).toEqual({ USD: '0.3' });
    expect(credit(merchant({ balances: { USD: '1' } }), 'EUR', '2').balances).toEqual({ USD: '1', EUR: '2' });
  });

  it('are funded by an amount', () => {
    const held = state();
    expect(applied(held, fundWallet(held, 'wal_eur', '0.50')).balance).toBe('51');
    expect(held.wallets.get('wal_eur')?.balance).toBe('51');
  });

  it.each(['0', '-5', 'ten', '', '1e3', '1.123456789'])('are not funded by %j', (amount) => {
    expect(() => fundWallet(state(), 'wal_eur', amount)).toThrow(
      expect.objectContaining({ code: 'invalid_fields' }),
    );
  });

  it('that do not exist are not funded, and those that do are named', () => {
    expect(() => fundWallet(state(), 'nothing', '1')).toThrow(
      /no wallet has the id "nothing"; known: wal_first_usd, /,
    );
  });
});
