import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Wallet } from '../../src/contract/wallet.ts';
import { type Preparation, prepare } from '../../src/domain/bootstrap.ts';
import { DOCUMENTED_CURRENCIES } from '../../src/domain/money.ts';
import { State } from '../../src/domain/state.ts';
import { applied, merchant, settings, state, wallet } from '../helpers/records.ts';

const CODES = DOCUMENTED_CURRENCIES.map(({ code }) => code);

function prepared(wallets: readonly Wallet[], wanted: Preparation = { wallets: [] }): State {
  const on = new State();
  on.apply({ merchants: [merchant()], wallets });
  applied(on, prepare(on, wanted, settings()));
  return on;
}

const all = (on: State) => [...on.wallets.values()];
const terms = (email: string, currency = 'USD') => ({ email, holder: 'Ada', currency, balance: '7' });

describe('preparing a state', () => {
  it('does not change a state that matches the options', () => {
    const on = prepared([wallet()]);
    expect(prepare(on, { wallets: [] }, settings())).toEqual({ change: {}, result: null });
  });

  it('adds a wallet in every new currency for each customer', () => {
    const on = prepared([
      wallet({ id: 'wal_rich_usd', balance: '5' }),
      wallet({ id: 'wal_poor_usd', email: 'poor@example.com' }),
    ]);
    expect(all(on)).toHaveLength(2 * CODES.length);
    expect(on.wallets.get('wal_rich_eur')).toEqual(
      wallet({ id: 'wal_rich_eur', currency: 'EUR', balance: '5' }),
    );
    expect(on.wallets.get('wal_poor_usd')?.balance).toBe('1000');
  });

  it('adds no wallet in a currency that a customer already has', () => {
    const on = prepared([wallet(), wallet({ id: 'w', currency: 'EUR' })]);
    expect(all(on).filter(({ currency }) => currency === 'EUR')).toHaveLength(1);
  });

  it('never overwrites a wallet, whatever the ids are', () => {
    const id = fc.oneof(
      fc.string({ minLength: 1, maxLength: 4 }),
      fc.stringMatching(/^(wal_)?[a-b]{0,2}[12]?(_usd|_eur)?$/),
    );
    const kinds = fc.uniqueArray(fc.tuple(id, fc.constantFrom(...CODES)), {
      selector: ([one]) => one,
      minLength: 1,
      maxLength: 6,
    });
    fc.assert(
      fc.property(kinds, fc.array(fc.constantFrom('a@x.test', 'b@x.test', 'A.@x.test')), (given, emails) => {
        const wallets = given.map(([one, currency]) => wallet({ id: one, currency, email: `${one}@x.test` }));
        const on = prepared(wallets, { wallets: emails.map((email) => terms(email)) });
        expect(all(on).slice(0, wallets.length)).toEqual(wallets);
        expect(new Set(all(on).map(({ currency }) => currency))).toEqual(new Set(CODES));
        expect(prepare(on, { wallets: emails.map((email) => terms(email)) }, settings()).change).toEqual({});
      }),
    );
  });

  it('adds configured wallets only for customers without one, and compares e-mails in any case', () => {
    const wanted = {
      wallets: [terms('ada@example.com'), terms('ADA@example.com'), terms('Wallet@Example.com')],
    };
    const on = prepared([wallet()], wanted);
    expect(all(on).filter(({ currency }) => currency === 'USD')).toEqual([
      wallet(),
      { id: 'wal_ada_usd', ...terms('ada@example.com') },
    ]);
  });

  it('numbers the wallets of customers with the same name', () => {
    const on = prepared([wallet()], {
      wallets: [terms('ada@one.test'), terms('ada@two.test'), terms('ada@3.test')],
    });
    expect(['wal_ada_usd', 'wal_ada2_usd', 'wal_ada3_usd'].map((id) => on.wallets.get(id)?.email)).toEqual([
      'ada@one.test',
      'ada@two.test',
      'ada@3.test',
    ]);
  });

  it('rejects a wallet in an unknown currency', () => {
    const act = () => prepare(state(), { wallets: [terms('ada@example.com', 'XXX')] }, settings());
    expect(act).toThrow('wallets: unknown currency XXX for ada@example.com; known: ');
  });

  it('pins one or both keys of the first merchant', () => {
    const both = prepared([wallet()], { wallets: [], publicKey: 'pub_1', secretKey: 'sec_1' });
    expect([...both.merchants.values()]).toEqual([merchant({ publicKey: 'pub_1', secretKey: 'sec_1' })]);
    const one = prepared([wallet()], { wallets: [], secretKey: 'sec_1' });
    expect([...one.merchants.values()]).toEqual([merchant({ secretKey: 'sec_1' })]);
  });
});
