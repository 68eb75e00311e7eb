import { describe, expect, it } from 'vitest';
import { credit } from '../../src/domain/merchant.ts';
import { debit, findWallet, fundWallet } from '../../src/domain/wallet.ts';
import { merchant, state, wallet } from '../helpers/records.ts';

describe('wallets', () => {
  it('are found by e-mail in any case and currency', () => {
    expect(findWallet(state(), ' WALLET@example.com ', 'USD')?.id).toBe('wal_rich_usd');
    expect(findWallet(state(), 'wallet@example.com', 'EUR')?.id).toBe('wal_eur');
    expect(findWallet(state(), 'wallet@example.com', 'GNF')).toBeUndefined();
  });

  it('are debited exactly, even below zero, and merchants are credited per currency, without modifying the records', () => {
    const given = wallet({ balance: '0.3' });
    expect(debit(given, '0.1').balance).toBe('0.2');
    expect(debit(given, '1').balance).toBe('-0.7');
    expect(given.balance).toBe('0.3');
    expect(credit(merchant({ balances: { USD: '0.1' } }), 'USD', '0.2').balances).toEqual({ USD: '0.3' });
    expect(credit(merchant({ balances: { USD: '1' } }), 'EUR', '2').balances).toEqual({ USD: '1', EUR: '2' });
  });

  it.each(['0', '-5', 'ten', '', '1e3', '1.123456789'])('cannot be funded with the amount %j', (amount) => {
    expect(() => fundWallet(state(), 'wal_eur', amount)).toThrow(
      expect.objectContaining({ code: 'invalid_fields' }),
    );
  });

  it('are listed in the error for an unknown wallet', () => {
    expect(() => fundWallet(state(), 'nothing', '1')).toThrow(
      /no wallet has the id "nothing"; known: wal_first_usd, /,
    );
  });
});
