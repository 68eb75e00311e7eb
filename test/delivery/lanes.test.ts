import { describe, expect, it } from 'vitest';
import { Lanes } from '../../src/delivery/lanes.ts';

/** Lanes whose attempts end only when the test calls `timeOut`, which ends all attempts in progress. */
function lanes() {
  const begun: string[] = [];
  const underWay = new Map<string, () => void>();
  const made = new Lanes(
    (id) =>
      new Promise((resolve) => {
        begun.push(id);
        underWay.set(id, resolve);
      }),
    () => {},
  );
  return {
    begun,
    underWay,
    send: (origin: string, id: string) => made.enqueue(origin, id, id),
    async timeOut() {
      const all = [...underWay.values()];
      underWay.clear();
      for (const end of all) end();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const repeat = (count: number, run: (index: number) => void) => {
  for (let index = 0; index < count; index++) run(index);
};

describe('a receiver', () => {
  it('is not delayed by others that hang', () => {
    const { send, begun } = lanes();
    repeat(256, (host) => repeat(64, (number) => send(`http://hang-${host}`, `${host}-${number}`)));
    send('http://healthy', 'healthy');
    expect(begun).toContain('healthy');
  });

  it('gets at most 16 attempts at a time, in order', async () => {
    const { send, begun, underWay, timeOut } = lanes();
    const all = Array.from({ length: 100 }, (_, number) => `order-${number}`);
    for (const id of all) send('http://shop', id);
    for (let begunBy = 16; begunBy < all.length; begunBy += 16) {
      expect([begun.length, underWay.size]).toEqual([begunBy, 16]);
      await timeOut();
    }
    expect(begun).toEqual(all);
  });
});
