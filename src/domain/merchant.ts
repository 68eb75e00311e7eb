import { command, GatewayError, hint } from '../contract/error.ts';
import type { Merchant } from '../contract/merchant.ts';
import { KEY_PREFIXES } from '../contract/secrets.ts';
import { timestamp } from '../contract/time.ts';
import type { RandomBytes } from '../system/random.ts';
import { sameSecret } from '../system/secret.ts';
import { randomText } from './ids.ts';
import type { Context } from './settings.ts';
import type { RuleResult, State } from './state.ts';

/** Maximum number of stored former pairs (chosen). */
const MAX_FORMER_KEYS = 10;

/** A merchant's current keys: random and never seeded, or pinned by the user. */
type KeyPair = Pick<Merchant, 'publicKey' | 'secretKey'>;

export function findByKey(state: State, kind: keyof KeyPair, key: string): Merchant | undefined {
  // A public key needs no comparison in constant time.
  const isSame = kind === 'publicKey' ? Object.is : sameSecret;
  return state.merchants.find((merchant) => isSame(key, merchant[kind]));
}

/** The merchant whose secret key a request carries. @throws GatewayError `unauthorized` */
export function requireBySecretKey(state: State, key: string | undefined): Merchant {
  if (key === undefined) {
    throw new GatewayError(
      'unauthorized',
      'the header Authorization: Bearer <secret key> is missing or invalid',
    );
  }
  const merchant = findByKey(state, 'secretKey', key);
  if (merchant) return merchant;
  throw new GatewayError('unauthorized', 'Invalid api key', {
    hint: findByKey(state, 'publicKey', key)
      ? hint`lint: the public key was sent as the bearer token. Cards require the secret key`
      : hint`Show the keys of this emulator with: ${command('keys show')}`,
  });
}

/** The default merchant of commands: the first one. */
export function defaultMerchant(state: State): Merchant {
  const merchant = state.merchants.values().next().value;
  if (!merchant) throw new GatewayError('state_damaged', 'the state has no merchant');
  return merchant;
}

/** The merchant with this id or name. @throws GatewayError `not_found` */
export function requireMerchant(state: State, reference: string): Merchant {
  const merchant = state.merchants.get(reference) ?? state.merchants.find(({ name }) => name === reference);
  if (merchant) return merchant;
  const names = [...state.merchants.values()].map(({ name }) => name);
  throw new GatewayError(
    'not_found',
    `no merchant has the id or name "${reference}"; known: ${names.join(', ')}`,
    {
      hint: hint`Create a merchant with: ${command('keys generate', '--merchant', '<name>')}`,
    },
  );
}

export function newKeyPair(random: RandomBytes): KeyPair {
  return {
    publicKey: KEY_PREFIXES.publicKey + randomText(random, 'key', 32),
    secretKey: KEY_PREFIXES.secretKey + randomText(random, 'key', 32),
  };
}

/** Replaces a merchant's keys. The old pair stops working immediately, and only its fingerprint is kept. */
export function replaceKeys(merchant: Merchant, keys: KeyPair, { ipn, now }: Context): RuleResult<Merchant> {
  const former = { replacedAt: timestamp(now), fingerprint: ipn.fingerprint(merchant.secretKey) };
  const formerKeys = [former, ...(merchant.formerKeys ?? [])].slice(0, MAX_FORMER_KEYS);
  const changed = { ...merchant, ...keys, formerKeys };
  return { change: { merchants: [changed] }, result: changed };
}

/** @throws GatewayError `invalid_fields` if the name is empty, too long or already used */
export function addMerchant(
  state: State,
  id: string,
  name: string,
  keys: KeyPair,
  context: Context,
): RuleResult<Merchant> {
  if (!name.trim() || [...name].length > 60) {
    throw new GatewayError('invalid_fields', 'name must have 1 to 60 characters');
  }
  if (state.merchants.find((merchant) => merchant.name === name)) {
    throw new GatewayError('invalid_fields', `name "${name}" is already used by another merchant`);
  }
  const merchant: Merchant = { id, name, ...keys, balances: {}, createdAt: timestamp(context.now) };
  return { change: { merchants: [merchant] }, result: merchant };
}
