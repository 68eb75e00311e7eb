import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseSnapshot } from '../../src/store/snapshot.ts';
import { snapshotText } from '../../src/store/snapshot-lines.ts';
import { readState } from '../../src/usecases/read-state.ts';
import { parsed, StateText } from '../../src/usecases/state-text.ts';
import { character } from '../helpers/characters.ts';
import { pendingPayment, state } from '../helpers/records.ts';
import { IS_RELEASE } from '../helpers/scope.ts';

/** What a text holds, put together again from its parts; undefined for what is refused. */
function together(text: string): unknown {
  const whole: Record<string, unknown> = {};
  try {
    for (const part of new StateText(Buffer.from(text)).parts()) {
      if (part.kind === 'list') define(whole, part.name, []);
      else if (part.kind === 'value') define(whole, part.name, parsed(part.json));
      else (whole[part.name] as unknown[]).push(parsed(part.json));
    }
    return whole;
  } catch {
    return undefined;
  }
}

/** As JSON.parse does it, whatever the name is. */
function define(whole: object, name: string, value: unknown): void {
  Object.defineProperty(whole, name, { value, configurable: true, enumerable: true, writable: true });
}

function atOnce(text: string): unknown {
  try {
    const whole: unknown = JSON.parse(text);
    return typeof whole === 'object' && whole !== null && !Array.isArray(whole) ? whole : undefined;
  } catch {
    return undefined;
  }
}

const json = fc.jsonValue({ maxDepth: 4, stringUnit: 'binary' });
const states = fc.dictionary(fc.string({ unit: character }), fc.oneof(fc.array(json), json));

describe('a text that is read part by part', () => {
  it('holds what it holds when it is read at once', () => {
    fc.assert(
      fc.property(states, fc.constantFrom('', ' ', '\t', 2), (whole, space) => {
        const text = JSON.stringify(whole, null, space);
        expect(together(text)).toEqual(atOnce(Buffer.from(text).toString()));
      }),
    );
  });

  it('is refused when it would be refused at once, whatever stands where in it', () => {
    const signs = fc.constantFrom(...'[]{}",:\\ 1n', '\n', '');
    fc.assert(
      fc.property(states, fc.nat(), fc.nat(3), signs, (whole, at, removed, sign) => {
        const text = JSON.stringify(whole);
        const place = at % (text.length + 1);
        const changed = text.slice(0, place) + sign + text.slice(place + removed);
        expect(together(changed)).toEqual(atOnce(Buffer.from(changed).toString()));
      }),
      { numRuns: IS_RELEASE ? 1_000 : 300 },
    );
  });

  it.each([
    ['a text', `"${'x'.repeat(5 * 2 ** 20)}"`],
    ['a text of quotes', `"${'\\"'.repeat(5 * 2 ** 20)}"`],
    ['lists in lists', '['.repeat(60_000)],
    ['values', `[${'1,'.repeat(60_000)}1]`],
    ['blanks', ' '.repeat(5 * 2 ** 20)],
  ])('is refused with more %s in one place than any record has', (_, long) => {
    expect(() => [...new StateText(Buffer.from(`{"version":1,"payments":[${long}`)).parts()]).toThrow(
      /larger than any record|nothing but blanks/,
    );
  });
});

/** Counts how often everybody else gets a turn while something runs. */
async function turnsDuring(run: () => Promise<unknown>): Promise<{ turns: number; outcome: unknown }> {
  let turns = 0;
  let isOver = false;
  const probe = () => {
    turns++;
    if (!isOver) setImmediate(probe);
  };
  setImmediate(probe);
  const outcome = await run().catch((error: unknown) => error);
  isOver = true;
  return { turns, outcome };
}

const read = (text: string) => readState(Buffer.from(text), 'the state');

describe('a state', () => {
  const held = state();
  const payment = pendingPayment(held);
  const text = (count: number, change: (index: number) => object = () => ({})) =>
    JSON.stringify({
      version: 1,
      merchants: [...held.merchants.values()],
      payments: Array.from({ length: count }, (_, index) => ({
        ...payment,
        id: `pay_${index}`,
        ...change(index),
      })),
    });

  it('is what it is when it is parsed at once', async () => {
    const whole = text(1_000);
    expect(await read(whole)).toEqual(parseSnapshot(JSON.parse(whole), 'the state'));
    const empty = [
      ...snapshotText(await read('{"version":1}').catch(() => read('{"payments":[],"version":1}'))),
    ];
    expect(JSON.parse(empty.join(''))).toMatchObject({ version: 1, payments: [] });
  });

  it('lets everybody else have a turn for every 200 records', async () => {
    const { turns, outcome } = await turnsDuring(() => read(text(20_000)));
    expect(outcome).toMatchObject({ version: 1 });
    expect(turns).toBeGreaterThanOrEqual(100);
  });

  it('lets everybody else have a turn for every 256 KiB', async () => {
    const large = { details: 'x'.repeat(100_000) };
    const { turns } = await turnsDuring(() => read(text(100, () => large)));
    expect(turns).toBeGreaterThanOrEqual(30);
  });

  it('of junk is given up at the first twenty problems', async () => {
    const junk = `{"version":1,"payments":[${'1,'.repeat(10 * 2 ** 20)}1]}`;
    const { turns, outcome } = await turnsDuring(() => read(junk));
    expect(outcome).toMatchObject({
      code: 'state_damaged',
      problems: expect.arrayContaining([expect.stringContaining('payments.18')]),
    });
    expect((outcome as { problems: string[] }).problems).toHaveLength(20);
    expect((outcome as { problems: string[] }).problems.at(-1)).toBe('and more: the rest was not looked at');
    expect(turns).toBeLessThan(5);
  });

  it('names every damaged record by its place', async () => {
    const damaged = read(text(1_000, (index) => (index % 300 === 299 ? { amount: -1 } : {})));
    await expect(damaged).rejects.toMatchObject({
      problems: [299, 599, 899].map((index) => expect.stringContaining(`payments.${index}.amount`)),
    });
  });

  it('names each lone surrogate by its place, among other damage, however deep the text is', async () => {
    const changes: Record<number, object> = {
      1: { details: '\ud800' },
      2: { amount: -1 },
      3: { warnings: ['fine', '\udc00'] },
      4: { details: '😀' },
    };
    await expect(read(text(6, (index) => changes[index] ?? {}))).rejects.toMatchObject({
      problems: ['1.details has a lone', '2.amount', '3.warnings.1 has a lone'].map((where) =>
        expect.stringContaining(`payments.${where}`),
      ),
    });
    const deep = `{"version":1,"payments":[${'['.repeat(40_000)}"\\ud800"${']'.repeat(40_000)}]}`;
    await expect(read(deep)).rejects.toMatchObject({ code: 'state_damaged' });
  });

  it('may say its version behind its records', async () => {
    const { version, ...records } = JSON.parse(text(3)) as { version: number };
    const { payments } = await read(JSON.stringify({ ...records, version }));
    expect(payments).toHaveLength(3);
  });
});
