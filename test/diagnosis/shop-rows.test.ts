import { describe, expect, it } from 'vitest';
import type { Reading } from '../../src/database/changes.ts';
import { ShopRows } from '../../src/diagnosis/shop-rows.ts';

const readingOf = (count: number): Reading => ({
  rows: new Map([['stock', new Map([['1', { id: 1, count }]])]]),
  keys: new Map([['stock', ['id']]]),
});

function open(read: (onMoment: () => void) => Promise<Reading>) {
  const notices: string[] = [];
  const rows = new ShopRows({
    read,
    tables: () => ({ count: 1, leftOut: undefined }),
    tiesOf: () => [],
    notice: (text) => notices.push(text),
  });
  return { rows, notices };
}

/** A database of one number, which each attempt raises. */
function counter() {
  let count = 0;
  return { ...open(async () => readingOf(count)), raise: async () => ++count };
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

  it('may go on after the first change', async () => {
    const { rows, raise } = counter();
    await rows.around('ipn_1', raise);
    await raise();
    await expect.poll(() => rows.of('ipn_1')).toMatchObject([{ from: '0', to: '2' }]);
  });

  it('is unknown after an attempt during which it could not be read, and after a reset', async () => {
    let count = 0;
    const read = async () => {
      if (count > 1) throw new Error('locked');
      return readingOf(count);
    };
    const { rows } = open(read);
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
    const { rows, notices } = open(async () => reading);
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
    const { rows, notices } = open(() => Promise.reject(new TypeError('no such thing')));
    for (const id of ['ipn_1', 'ipn_2']) expect(await rows.around(id, async () => 'sent')).toBe('sent');
    expect(notices).toEqual(['What IPNs change in the shop is not known: no such thing']);
    expect(rows.whyUnknown('ipn_1')).toBe('no such thing');
    expect(rows.state).toMatchObject({ problem: 'no such thing' });
  });

  it('does not make an IPN wait for rows, only for the moment of their reading', async () => {
    let count = 0;
    let finish = () => {};
    const { rows } = open(async (onMoment) => {
      const reading = readingOf(count);
      onMoment();
      if (count === 0) await new Promise<void>((resolve) => (finish = resolve));
      return reading;
    });
    await rows.around('ipn_1', async () => {
      count++;
      finish();
    });
    expect(rows.of('ipn_1')).toMatchObject([{ from: '0', to: '1' }]);
  });

  it('is known again after a reading that did not begin in time, which says so meanwhile', async () => {
    let count = 0;
    let answer: (() => void) | undefined;
    const { rows, notices } = open(async () => {
      if (count === 0) await new Promise<void>((resolve) => (answer = resolve));
      return readingOf(count);
    });
    const raise = async () => ++count;
    await rows.around('ipn_1', raise);
    expect(rows.whyUnknown('ipn_1')).toMatch(/^the database did not answer within 1 s/);
    expect(rows.state).toMatchObject({ problem: rows.whyUnknown('ipn_1') });
    // Nothing waits again as long as that reading is under way.
    await rows.around('ipn_2', raise);
    expect(rows.of('ipn_2')).toBeNull();
    answer?.();
    await expect.poll(() => rows.state?.problem).toBeNull();
    await rows.around('ipn_3', raise);
    expect([rows.of('ipn_3'), rows.whyUnknown('ipn_3')]).toMatchObject([[{ from: '2', to: '3' }], null]);
    expect(notices.filter((text) => text.includes('did not answer'))).toHaveLength(1);
  });

  it('is unknown for a reason: another IPN, a table that is left out, or a restart', async () => {
    const { rows, raise } = counter();
    await Promise.all([rows.around('ipn_1', raise), rows.around('ipn_2', raise)]);
    expect(rows.whyUnknown('ipn_1')).toMatch(/^another IPN or return was under way/);
    expect(rows.whyUnknown('ipn_0')).toMatch(/^the emulator was started or reset since/);
    const partly = new ShopRows({
      read: async () => readingOf(0),
      tables: () => ({ count: 1, leftOut: 'logs is left out' }),
      tiesOf: () => [],
      notice: () => {},
    });
    await partly.around('ipn_1', async () => {});
    expect(partly.whyUnknown('ipn_1')).toBe(
      'nothing changed in the tables that are read, but logs is left out',
    );
  });
});
