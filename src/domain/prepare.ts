import { GatewayError } from './error.ts';
import { defaultMerchant, findWallet } from './merchant.ts';
import { unique } from './payment.ts';
import type { Settings } from './settings.ts';
import type { Outcome, State, Wallet } from './state.ts';
import type { WalletTerms } from './terms.ts';

/** What the options want to be there. */
export interface Preparation {
  /** Pinned keys of the default merchant. */
  publicKey?: string | undefined;
  secretKey?: string | undefined;
  wallets: readonly WalletTerms[];
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
  const missing = [...settings.currencies.keys()].flatMap((currency) => missingWallets(state, currency));
  const wallets = configuredWallets(state, missing, wanted.wallets, settings);
  return {
    change: {
      ...(repinned && { merchants: [{ ...merchant, publicKey, secretKey }] }),
      ...(wallets.length && { wallets }),
    },
    result: null,
  };
}

/** For a currency that is new here: a wallet for everybody who has one in another currency. */
function missingWallets(state: State, currency: string): Wallet[] {
  const all = [...state.wallets.values()];
  if (all.some((wallet) => wallet.currency === currency)) return [];
  const first = all[0]?.currency;
  return all
    .filter((wallet) => wallet.currency === first)
    .map((wallet) => ({ ...wallet, id: wallet.id.replace(/[a-z]+$/, currency.toLowerCase()), currency }));
}

/** What is made anyway, and the wallets of the configuration that are not there yet: a restart must not fill up what was spent. */
function configuredWallets(
  state: State,
  missing: readonly Wallet[],
  wanted: readonly WalletTerms[],
  settings: Settings,
): Wallet[] {
  const made = [...missing];
  for (const terms of wanted) {
    if (!settings.currencies.has(terms.currency)) {
      const known = [...settings.currencies.keys()].join(', ');
      throw new GatewayError(
        'usage',
        `wallets: the currency ${terms.currency} of ${terms.email} is unknown; known: ${known}`,
        { remedy: 'Add it to "currencies" of the configuration, or with --currency.' },
      );
    }
    const isTheirs = ({ email, currency }: WalletTerms) =>
      email.toLowerCase() === terms.email.toLowerCase() && currency === terms.currency;
    if (findWallet(state, terms.email, terms.currency) || made.some(isTheirs)) continue;
    const name = terms.email.split('@', 1)[0]?.replace(/[^A-Za-z0-9]+/g, '-') ?? '';
    const id = unique(numbered(`wal_${name}`, `_${terms.currency.toLowerCase()}`), (id) =>
      [...state.wallets.values(), ...made].every((wallet) => wallet.id !== id),
    );
    made.push({ id, ...terms });
  }
  return made;
}

/** `wal_ada_usd`, `wal_ada2_usd`, `wal_ada3_usd`, … */
function numbered(start: string, end: string): () => string {
  let count = 0;
  return () => `${start}${++count === 1 ? '' : count}${end}`;
}
