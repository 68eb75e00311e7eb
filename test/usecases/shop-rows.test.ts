import { describe, expect, it } from 'vitest';
import type { Reading } from '../../src/database/changes.ts';
import { ShopRows } from '../../src/usecases/shop-rows.ts';

const readingOf = (count: number): Reading => ({
  rows: new Map([['stock', new Map([['1', { id: 1, count }]])]]),
  keys: new Map([['stock', ['id']]]),
});

/** A database of one number, which each attempt raises. */
function counter() {
  let count = 0;
  const read = async () => readingOf(count);
  const notices: string[] = [];
  return {
    rows: new ShopRows(
      read,
      () => true,
      (text) => notices.push(text),
    ),
    raise: async () => ++count,
    notices,
  };
}

describe('what an IPN changes in the shop', () => {
  it('is known when its attempt ends', async () => {
    const { rows, raise } = counter();
    expect(await rows.around('ipn_1', raise)).toBe(1);
    expect(rows.of('ipn_1')).toEqual([{ table: 'stock', key: '1', column: 'count', from: '0', to: '1' }]);
  });

  it('is unknown if another attempt runs at the same time', async () => {
    const { rows, raise } = counter();
    await Promise.all([rows.around('ipn_1', raise), rows.around('ipn_2', raise)]);
    expect([rows.of('ipn_1'), rows.of('ipn_2')]).toEqual([null, null]);
  });

  it('is not what changes when the customer returns afterwards', async () => {
    const { rows, raise } = counter();
    await rows.around('ipn_1', async () => {});
    await rows.aroundReturn('pay_1', raise);
    expect(rows.of('ipn_1')).toEqual([]);
    await expect.poll(() => rows.of('pay_1')).toMatchObject([{ from: '0', to: '1' }]);
  });

  it('may be written late', async () => {
    const { rows, raise } = counter();
    await rows.around('ipn_1', async () => void setTimeout(raise, 20));
    expect(rows.of('ipn_1')).toMatchObject([{ from: '0', to: '1' }]);
  });

  it('is unknown after an attempt during which it could not be read, and after a reset', async () => {
    let count = 0;
    const read = async () => {
      if (count > 1) throw new Error('locked');
      return readingOf(count);
    };
    const rows = new ShopRows(
      read,
      () => true,
      () => {},
    );
    for (const to of [1, 2]) {
      await rows.around('ipn_1', async () => {
        count = to;
      });
      expect(rows.of('ipn_1')).toEqual(to === 1 ? [expect.objectContaining({ to: '1' })] : null);
    }
    count = 0;
    await rows.around('ipn_2', async () => {
      count = 1;
    });
    rows.forget();
    expect(rows.of('ipn_2')).toBeNull();
  });

  it('is unknown, and the attempt is as it is, if the readings cannot be compared', async () => {
    let reading = readingOf(0);
    const notices: string[] = [];
    const rows = new ShopRows(
      async () => reading,
      () => true,
      (text) => notices.push(text),
    );
    const sent = await rows.around('ipn_1', async () => {
      reading = { ...reading, rows: null as never };
      return 'sent';
    });
    expect([sent, rows.of('ipn_1')]).toEqual(['sent', null]);
    expect(notices).toEqual([expect.stringMatching(/^What IPNs change in the shop is not known: /)]);
    reading = readingOf(1);
    await rows.around('ipn_2', async () => {
      reading = readingOf(2);
    });
    expect(rows.of('ipn_2')).toMatchObject([{ from: '1', to: '2' }]);
  });

  it('can be waited for', async () => {
    const { rows, raise } = counter();
    let known: Promise<void> | undefined;
    await rows.around('ipn_1', async () => {
      known = rows.whenKnown('ipn_1')?.then(() => expect(rows.of('ipn_1')).toHaveLength(1));
      await raise();
    });
    expect(known).toBeDefined();
    await known;
    expect(rows.whenKnown('ipn_1')).toBeUndefined();
  });

  it('never stops a delivery: a database that cannot be read is told once', async () => {
    const notices: string[] = [];
    const fail = () => Promise.reject(new TypeError('no such thing'));
    const rows = new ShopRows(
      fail,
      () => true,
      (text) => notices.push(text),
    );
    for (const id of ['ipn_1', 'ipn_2']) expect(await rows.around(id, async () => 'sent')).toBe('sent');
    expect(notices).toEqual(['What IPNs change in the shop is not known: no such thing']);
  });
});
