import { describe, expect, it } from 'vitest';
import { ask, startSim } from '../helpers/sim.ts';

const CARD = {
  currency_code: 'USD',
  title: 'Travel',
  name_on_card: 'Ada Example',
  email: 'ada@example.com',
  amount: '250.00',
};

type Body = Record<string, unknown> & { data: Record<string, unknown>; message: string; errors: string[] };

async function cardsOf(options: Parameters<typeof startSim>[0] = {}) {
  const sim = await startSim(options);
  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(sim.url + path, {
      method,
      headers: { Authorization: `Bearer ${sim.secretKey}`, 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: (await response.json()) as Body };
  };
  const create = async (changes: object = {}) =>
    (await call('POST', '/api/cards/save', { ...CARD, ...changes })).body.data;
  const move = (id: unknown, transaction: object) =>
    ask<{ message: string }>(sim, 'POST', `/cards/${id}/transactions`, transaction);
  return { sim, call, create, move };
}

/*
 * fixtures/fidelity/manifest.jsonl has the rules for fields and responses; conform.test.ts checks the emulator
 * against it. These tests check what one request and its response cannot show.
 */

describe('a card', () => {
  it('has the documented fields and no others', async () => {
    const { create } = await cardsOf();
    expect(Object.keys(await create()).join()).toBe(
      'id,amount,charges,available_balance,title,masked_card_number,card_number,name_on_card,email,cvc,expiry_month,expiry_year,status,created_at,updated_at,currency',
    );
  });
});

describe('the list of cards', () => {
  it('pages through forty cards, newest first and without overlap', async () => {
    const { call, create } = await cardsOf();
    const ids: unknown[] = [];
    for (let count = 0; count < 40; count++) ids.unshift((await create({ title: `Card ${count}` }))['id']);
    const pages = await Promise.all(
      ['', '?page=2', '?page=3', '?page=4'].map((query) => call('GET', `/api/cards${query}`)),
    );
    expect(pages.map(({ body }) => (body.data as unknown as unknown[]).length)).toEqual([15, 15, 10, 0]);
    expect(
      pages.flatMap(({ body }) => (body.data as unknown as { id: string }[]).map(({ id }) => id)),
    ).toEqual(ids);
    const { data: _, ...envelope } = pages[1]?.body ?? {};
    expect(envelope).toEqual({ success: 'ok', current_page: 2, per_page: 15, last_page: 3, total: 40 });
  });

  it('returns a page number of fifteen digits exactly, and rejects a longer one', async () => {
    const { call } = await cardsOf();
    const { body } = await call('GET', '/api/cards?page=999999999999999');
    expect(body).toMatchObject({ current_page: 999_999_999_999_999, last_page: 1, total: 0 });
    expect((await call('GET', '/api/cards?page=1000000000000000')).status).toBe(422);
  });
});

describe('authentication', () => {
  it('logs that the public key was sent', async () => {
    const { sim, call } = await cardsOf();
    await call('GET', '/api/cards', undefined, { Authorization: `Bearer ${sim.publicKey}` });
    const { data } = await sim.control<{ data: { notes: string[] }[] }>('/requests');
    expect(data[0]?.notes.join()).toContain('public key');
  });

  it('rejects a replaced key', async () => {
    const { sim, call } = await cardsOf();
    expect((await call('GET', '/api/cards')).status).toBe(200);
    await fetch(`${sim.url}/_sim/merchants/mer_demo/keys`, { method: 'POST' });
    expect((await call('GET', '/api/cards')).status).toBe(401);
  });
});

describe('bad input', () => {
  it.each([
    ['fields of the wrong type', JSON.stringify({ ...CARD, title: ['x'], amount: {} }), 422],
    ['an overlong amount', JSON.stringify({ ...CARD, amount: '9'.repeat(400) }), 422],
    ['a number that is not exact', JSON.stringify(CARD).replace('"250.00"', '99.99999999999999999'), 422],
    ['256 emoji', JSON.stringify({ ...CARD, title: '😀'.repeat(256) }), 422],
    ['more than 1 MiB', JSON.stringify({ ...CARD, title: 'x'.repeat(2 ** 20) }), 413],
  ])('is rejected and changes nothing: %s', async (_, body, status) => {
    const { call } = await cardsOf();
    const answer = await call('POST', '/api/cards/save', body);
    expect(answer.status).toBe(status);
    expect(answer.body).toMatchObject({ error: 'true', message: answer.body.errors[0] });
    expect(answer.body).not.toHaveProperty('success');
    expect((await call('GET', '/api/cards')).body['total']).toBe(0);
  });

  it.each([
    ['GET', '/api/cards/a%2Fb', 404],
    ['GET', '/api/cards/a/b', 404],
    ['GET', '/api/cards/', 404],
    ['GET', '/api/cards/%25', 404],
    ['GET', '/api/cards/%zz', 404],
    ['GET', '/api/cards/constructor', 404],
    ['GET', '/api/cards/__proto__', 404],
    ['PUT', '/api/cards/cancel/a%2Fb', 404],
    ['PUT', '/api/cards/cancel', 404],
  ])('%s %s gets %i in the error shape', async (method, path, status) => {
    const { call } = await cardsOf();
    const answer = await call(method, path);
    expect(answer.status).toBe(status);
    expect(answer.body).toEqual({
      error: 'true',
      message: expect.any(String),
      errors: [answer.body.message],
    });
  });
});

it('keeps card numbers, card codes and keys out of the request log', async () => {
  const { sim, call, create } = await cardsOf();
  const card = await create();
  await call('GET', '/api/cards');
  const { data } = await sim.control<{ data: { responseBody: string }[] }>('/requests');
  const answers = data.map(({ responseBody }) => responseBody).join();
  expect(answers).toContain('"title":"Travel"');
  expect(answers).not.toContain(`"cvc":"${card['cvc']}"`);
  const events = await (await fetch(`${sim.url}/_sim/events?since=0&follow=false`)).text();
  for (const log of [JSON.stringify(data), events]) {
    expect(log).not.toContain(card['card_number']);
    expect(log).not.toContain(sim.secretKey);
  }
});

describe('a charge by the simulator', () => {
  it('is declined with a message, recorded in the request log, and creates no transaction', async () => {
    const { sim, call, create, move } = await cardsOf();
    const { id } = await create();
    await call('PUT', '/api/cards/toggle', { card_id: id, active: false });
    const declined = await move(id, { type: 'charge', amount: '1' });
    expect([declined.status, declined.body.message.includes('inactive')]).toEqual([409, true]);
    const { data } = await sim.control<{ data: { notes: string[]; status: number }[] }>('/requests');
    expect(data[0]).toMatchObject({ status: 409, notes: [expect.stringContaining('declined')] });
    expect((await sim.control<{ transactions: unknown[] }>(`/cards/${id}`)).transactions).toEqual([]);
  });
});

describe('moving money on a card', () => {
  it.each([
    ['an unknown type', { type: 'refund', amount: '1' }, 422],
    ['no amount', { type: 'charge' }, 422],
    ['a negative amount', { type: 'charge', amount: '-1' }, 422],
    ['an amount that is not text', { type: 'charge', amount: 1 }, 422],
    ['an unknown field', { type: 'charge', amount: '1', amuont: '2' }, 422],
    ['details of 256 characters', { type: 'charge', amount: '1', details: 'x'.repeat(256) }, 422],
    ['more than a JSON number can represent exactly', { type: 'fund', amount: '9999999999' }, 422],
    ['more than the balance', { type: 'charge', amount: '247.51' }, 409],
    ['another currency', { type: 'charge', amount: '1', currency: 'EUR' }, 409],
  ])('is rejected and changes nothing: %s', async (_, transaction, status) => {
    const { call, create, move } = await cardsOf();
    const card = await create();
    expect((await move(card['id'], transaction)).status).toBe(status);
    expect((await call('GET', `/api/cards/${card['id']}`)).body.data).toEqual({ ...card, transactions: [] });
  });

  it('rejects an unknown card, which is not a declined charge', async () => {
    const { sim, move } = await cardsOf();
    expect((await move('nope', { type: 'charge', amount: '1' })).status).toBe(404);
    expect((await sim.control<{ data: unknown[] }>('/requests')).data).toEqual([]);
  });

  it('is reported as an event', async () => {
    const { sim, create, move } = await cardsOf();
    const { id } = await create();
    await move(id, { type: 'charge', amount: '12.50', details: 'Coffee' });
    const events = await (await fetch(`${sim.url}/_sim/events?since=0&follow=false`)).text();
    expect(events).toMatch(/event: cardTransaction\ndata: .*"amount":"12\.50"/);
  });
});

it('repeats ids and card numbers with a seed, but never keys', async () => {
  const first = await cardsOf({ seed: 'abc' });
  const second = await cardsOf({ seed: 'abc' });
  const other = await cardsOf({ seed: 'abd' });
  const stable = ({ id, card_number, cvc }: Record<string, unknown>) => ({ id, card_number, cvc });
  const cards = [await first.create(), await second.create(), await other.create()].map(stable);
  expect(cards[0]).toEqual(cards[1]);
  expect(cards[0]).not.toEqual(cards[2]);
  const keys = await Promise.all(
    [first, second].map(async ({ sim }) => {
      const response = await fetch(`${sim.url}/_sim/merchants/mer_demo/keys`, { method: 'POST' });
      return ((await response.json()) as { secretKey: string }).secretKey;
    }),
  );
  expect(keys[0]).not.toBe(keys[1]);
});
