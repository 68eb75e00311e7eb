import { describe, expect, it } from 'vitest';
import { findWallet, fundWallet } from '../../src/domain/wallet.ts';
import { state } from '../helpers/records.ts';

describe('wallets', () => {
  it('are found by e-mail in any case and currency', () => {
    expect(findWallet(state(), ' WALLET@example.com ', 'USD')?.id).toBe('wal_rich_usd');
    expect(findWallet(state(), 'wallet@example.com', 'EUR')?.id).toBe('wal_eur');
    expect(findWallet(state(), 'wallet@example.com', 'GNF')).toBeUndefined();
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
