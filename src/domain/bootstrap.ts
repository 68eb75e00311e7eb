import type { WalletEntry } from '../contract/configuration.ts';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import type { Wallet } from '../contract/wallet.ts';
import { defaultMerchant, findWallet } from './merchant.ts';
import type { Settings } from './settings.ts';
import type { Outcome, State } from './state.ts';

/** What the options want to be there. */
export interface Preparation {
  /** Pinned keys of the default merchant. */
  publicKey?: string | undefined;
  secretKey?: string | undefined;
  wallets: readonly WalletEntry[];
}

/**
 * Rule: brings a state in line with the options: pinned keys, and a wallet of each kind in every currency.
 *
 * @throws GatewayError `usage` for a wallet in an unknown currency
 */
export function prepare(state: State, wanted: Preparation, settings: Settings): Outcome<null> {
  const merchant = defaultMerchant(state);
  const { publicKey = merchant.publicKey, secretKey = merchant.secretKey } = wanted;
  const repinned = publicKey !== merchant.publicKey || secretKey !== merchant.secretKey;
  const free = freeIds(state);
  const missing = [...settings.currencies.keys()].flatMap((code) => missingWallets(state, code, free));
  const wallets = [...missing, ...configuredWallets(state, missing, wanted.wallets, settings, free)];
  return {
    change: {
      ...(repinned && { merchants: [{ ...merchant, publicKey, secretKey }] }),
      ...(wallets.length && { wallets }),
    },
    result: null,
  };
}

/** For a currency that is new here: a wallet for everybody who has one in another currency. */
function missingWallets(state: State, currency: string, free: FreeId): Wallet[] {
  const all = [...state.wallets.values()];
  if (all.some((wallet) => wallet.currency === currency)) return [];
  const first = all[0]?.currency ?? '';
  const ending = `_${first.toLowerCase()}`;
  return all
    .filter((wallet) => wallet.currency === first)
    .map((wallet) => {
      // Ids in somebody's own fixtures may end in anything.
      const start = wallet.id.endsWith(ending) ? wallet.id.slice(0, -ending.length) : wallet.id;
      return { ...wallet, id: free(start, currency), currency };
    });
}

/** The wallets of the configuration that are not there yet: a restart must not fill up what was spent. */
function configuredWallets(
  state: State,
  missing: readonly Wallet[],
  wanted: readonly WalletEntry[],
  settings: Settings,
  free: FreeId,
): Wallet[] {
  const made: Wallet[] = [];
  for (const terms of wanted) {
    if (!settings.currencies.has(terms.currency)) {
      const known = [...settings.currencies.keys()].join(', ');
      throw new GatewayError(
        'usage',
        `wallets: the currency ${terms.currency} of ${terms.email} is unknown; known: ${known}`,
        { hint: hint`Add it to "currencies" of the configuration, or with ${option('currency')}.` },
      );
    }
    const isTheirs = ({ email, currency }: WalletEntry) =>
      email.toLowerCase() === terms.email.toLowerCase() && currency === terms.currency;
    const has = findWallet(state, terms.email, terms.currency) || [...missing, ...made].some(isTheirs);
    if (has) continue;
    const name = terms.email.split('@', 1)[0]?.replace(/[^A-Za-z0-9]+/g, '-') ?? '';
    made.push({ id: free(`wal_${name}`, terms.currency), ...terms });
  }
  return made;
}

/** An id for a new wallet in a currency, which no other wallet has. */
type FreeId = (start: string, currency: string) => string;

/** `wal_ada_usd`, `wal_ada2_usd`, `wal_ada3_usd`, … */
function freeIds(state: State): FreeId {
  const taken = new Set([...state.wallets.values()].map(({ id }) => id));
  return (start, currency) => {
    const idOf = (count: number) => `${start}${count === 1 ? '' : count}_${currency.toLowerCase()}`;
    let count = 1;
    while (taken.has(idOf(count))) count++;
    taken.add(idOf(count));
    return idOf(count);
  };
}
