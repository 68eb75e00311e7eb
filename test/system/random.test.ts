import { describe, expect, it } from 'vitest';
import { createIds } from '../../src/domain/ids.ts';
import { seededRandom } from '../../src/system/random.ts';

/** The first ids from a seed. */
function drawn(seed: string, generation = 0): string[] {
  const ids = createIds(seededRandom(seed, generation));
  const all = [ids.payment, ids.payment, ids.trx, ids.delivery, ids.card, ids.cardDigits, ids.cvc, ids.code];
  return [...all.map((draw) => draw()), String(ids.fraction('jitter'))];
}

describe('seeded bytes', () => {
  it('are the same for the same seed, for every kind of id', () => {
    expect(drawn('shop')).toEqual(drawn('shop'));
    expect(new Set(drawn('shop')).size).toBe(drawn('shop').length);
  });

  it.each([
    ['another seed', drawn('other')],
    ['a larger state', drawn('shop', 1)],
  ])('differ with %s', (_, others) => {
    for (const [index, id] of drawn('shop').entries()) expect(others[index]).not.toBe(id);
  });

  it('for one purpose do not depend on how many were drawn for another', () => {
    const quiet = createIds(seededRandom('shop', 0));
    const busy = createIds(seededRandom('shop', 0));
    for (let count = 0; count < 10; count++) busy.card();
    expect(busy.payment()).toBe(quiet.payment());
  });

  it('for two purposes are unrelated', () => {
    const random = seededRandom('shop', 0);
    expect(random('payment', 32)).not.toEqual(random('card', 32));
  });
});
