import { describe, expect, it } from 'vitest';
import { Lanes, MAX_IN_TOTAL } from '../../src/delivery/lanes.ts';

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
    send: (origin: string, pathname: string, id: string) => made.enqueue({ origin, pathname }, id, id),
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

describe('a responsive receiver', () => {
  it('is not delayed by sixteen hanging receivers', () => {
    const { send, begun, underWay } = lanes();
    repeat(16, (host) => repeat(64, (number) => send(`http://hang-${host}`, '/ipn', `${host}-${number}`)));
    send('http://healthy', '/ipn', 'healthy');
    expect(begun).toContain('healthy');
    expect(underWay.size).toBeLessThanOrEqual(MAX_IN_TOTAL);
  });

  it('waits at most one timeout for 256 hanging receivers', async () => {
    const { send, begun, underWay, timeOut } = lanes();
    repeat(256, (host) => repeat(64, (number) => send(`http://hang-${host}`, '/ipn', `${host}-${number}`)));
    send('http://healthy', '/ipn', 'healthy');
    expect(begun).not.toContain('healthy');
    await timeOut();
    expect(begun).toContain('healthy');
    expect(underWay.size).toBe(MAX_IN_TOTAL);
  });

  it('is not delayed if one of its addresses hangs, and gets at most 32 concurrent attempts', () => {
    const { send, begun, underWay } = lanes();
    repeat(40, (number) => send('http://shop', '/hang', `hang-${number}`));
    send('http://shop', '/ok', 'ok');
    expect(begun).toHaveLength(17);
    expect(begun.at(-1)).toBe('ok');
    repeat(40, (number) => send('http://shop', `/orders/${number}`, `order-${number}`));
    expect(underWay.size).toBe(32);
  });
});

describe('lanes', () => {
  it('run in rotation, each in its own order, and run every delivery', async () => {
    const { send, begun, timeOut } = lanes();
    repeat(100, (number) => send('http://shop', '/a', `a-${number}`));
    repeat(100, (number) => send('http://shop', '/b', `b-${number}`));
    for (let wave = 0; begun.length < 200; wave++) {
      expect(wave).toBeLessThan(20);
      await timeOut();
    }
    for (const name of ['a', 'b']) {
      const inOrder = Array.from({ length: 100 }, (_, number) => `${name}-${number}`);
      expect(begun.filter((id) => id.startsWith(name))).toEqual(inOrder);
    }
    // Neither lane waited until the other was empty.
    expect(begun.indexOf('b-20')).toBeLessThan(begun.indexOf('a-99'));
  });
});
