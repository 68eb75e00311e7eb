import type { WalletEntry } from '../contract/configuration.ts';
import { hint, option, usage } from '../contract/error.ts';
import type { Wallet } from '../contract/wallet.ts';
import { defaultMerchant } from './merchant.ts';
import type { Settings } from './settings.ts';
import type { RuleResult, State } from './state.ts';

/** The keys and wallets that the options require. */
export interface Preparation {
  /** Pinned keys of the default merchant. */
  publicKey?: string | undefined;
  secretKey?: string | undefined;
  wallets: readonly WalletEntry[];
}

/**
 * Rule: applies the options to a state. Pins the keys, and adds missing wallets in every currency.
 *
 * @throws GatewayError `usage` for a wallet in an unknown currency
 */
export function prepare(state: State, wanted: Preparation, settings: Settings): RuleResult<null> {
  const merchant = defaultMerchant(state);
  const { publicKey = merchant.publicKey, secretKey = merchant.secretKey } = wanted;
  const repinned = publicKey !== merchant.publicKey || secretKey !== merchant.secretKey;
  const all = new Map([...state.wallets.values()].map((wallet) => [wallet.id, wallet]));
  for (const currency of settings.currencies.keys()) addCurrency(all, currency);
  for (const entry of wanted.wallets) addConfigured(all, entry, settings);
  const wallets = [...all.values()].slice(state.wallets.size);
  return {
    change: {
      ...(repinned && { merchants: [{ ...merchant, publicKey, secretKey }] }),
      ...(wallets.length && { wallets }),
    },
    result: null,
  };
}

/** Adds a wallet in a new currency for every customer of the first currency. */
function addCurrency(all: Map<string, Wallet>, currency: string): void {
  const wallets = [...all.values()];
  if (wallets.some((wallet) => wallet.currency === currency)) return;
  const first = wallets[0]?.currency ?? '';
  const ending = `_${first.toLowerCase()}`;
  for (const { id, ...entry } of wallets.filter((wallet) => wallet.currency === first)) {
    // Ids in custom fixtures may have any ending.
    const start = id.endsWith(ending) ? id.slice(0, -ending.length) : id;
    add(all, start, { ...entry, currency });
  }
}

/** Adds a configured wallet unless it exists: a restart must not restore a spent balance. */
function addConfigured(all: Map<string, Wallet>, entry: WalletEntry, settings: Settings): void {
  if (!settings.currencies.has(entry.currency)) {
    const known = [...settings.currencies.keys()].join(', ');
    throw usage(`wallets: unknown currency ${entry.currency} for ${entry.email}; known: ${known}`, {
      hint: hint`Add it to "currencies" in the configuration file, or with ${option('currency')}.`,
    });
  }
  const isSame = ({ email, currency }: WalletEntry) =>
    email.toLowerCase() === entry.email.toLowerCase() && currency === entry.currency;
  if ([...all.values()].some(isSame)) return;
  const name = entry.email.split('@', 1)[0]?.replace(/[^A-Za-z0-9]+/g, '-') ?? '';
  add(all, `wal_${name}`, entry);
}

/** Adds a wallet with the first unused id: `wal_ada_usd`, `wal_ada2_usd`, `wal_ada3_usd`, … */
function add(all: Map<string, Wallet>, start: string, entry: WalletEntry): void {
  const idOf = (count: number) => `${start}${count === 1 ? '' : count}_${entry.currency.toLowerCase()}`;
  let count = 1;
  while (all.has(idOf(count))) count++;
  const id = idOf(count);
  all.set(id, { id, ...entry });
}
