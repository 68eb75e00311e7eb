import { describe, expect, it } from 'vitest';
import {
  addMerchant,
  defaultMerchant,
  findByKey,
  newKeyPair,
  replaceKeys,
  requireMerchant,
} from '../../src/domain/merchant.ts';
import { State } from '../../src/domain/state.ts';
import { sameSecret } from '../../src/system/secret.ts';
import { applied, context, merchant, NOW, PUBLIC_KEY, SECRET_KEY, state } from '../helpers/records.ts';

const KEYS = { publicKey: 'pub_sim_new', secretKey: 'sec_sim_new' };

describe('keys', () => {
  it.each([
    ['abc', 'abc', true],
    ['abc', 'abd', false],
    ['abc', 'ab', false],
  ])('%j equals %j: %s', (a, b, same) => {
    expect(sameSecret(a, b)).toBe(same);
  });

  it('stop working in the same change that replaces them', () => {
    const held = state();
    applied(held, replaceKeys(merchant(), KEYS, context()));
    expect(findByKey(held, 'publicKey', PUBLIC_KEY)).toBeUndefined();
    expect(findByKey(held, 'secretKey', SECRET_KEY)).toBeUndefined();
    expect(findByKey(held, 'publicKey', KEYS.publicKey)).toMatchObject({ id: 'mer_1', ...KEYS });
  });

  it('leave only a fingerprint and a time when replaced, for the last ten pairs', () => {
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

  it('look fake and fit the limit of 50 characters', () => {
    const pair = newKeyPair((_, length) => new Uint8Array(length));
    expect(pair.publicKey).toMatch(/^pub_sim_[0-9a-z]{32}$/);
    expect(pair.secretKey).toMatch(/^sec_sim_[0-9a-z]{32}$/);
  });
});

describe('merchants', () => {
  it.each(['', '   ', 'x'.repeat(61), 'default'])('cannot have the name %j', (name) => {
    expect(() => addMerchant(state(), 'mer_2', name, KEYS, context())).toThrow(
      expect.objectContaining({ code: 'invalid_fields' }),
    );
  });

  it('may have a name of 60 characters, counted as code points', () => {
    expect(addMerchant(state(), 'mer_2', '😀'.repeat(60), KEYS, context()).result.name).toHaveLength(120);
  });

  it('are found by id or name, and the first is the default', () => {
    expect(requireMerchant(state(), 'mer_1').name).toBe('default');
    expect(requireMerchant(state(), 'default').id).toBe('mer_1');
    expect(defaultMerchant(state()).id).toBe('mer_1');
    expect(() => requireMerchant(state(), 'nobody')).toThrow(
      /no merchant has the id or name "nobody"; known: default/,
    );
    expect(() => defaultMerchant(new State())).toThrow(expect.objectContaining({ code: 'state_damaged' }));
  });
});
