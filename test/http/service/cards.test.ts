import { describe, expect, it } from 'vitest';
import { CARD } from '../../helpers/records.ts';
import { ask, startSim } from '../../helpers/sim.ts';

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
    ask(sim, 'POST', `/cards/${id}/transactions`, transaction);
  return { sim, call, create, move };
}

/*
 * fixtures/fidelity/manifest.jsonl has the rules for fields and responses; conform.test.ts checks the emulator
 * against it. These tests check what one request and its response cannot show.
 */

describe('the list of cards', () => {
  it('accepts a page number of fifteen digits without rounding, and rejects a longer one', async () => {
    const { call } = await cardsOf();
    const { body } = await call('GET', '/api/cards?page=999999999999999');
    expect(body).toMatchObject({ current_page: 999_999_999_999_999, last_page: 1, total: 0 });
    expect((await call('GET', '/api/cards?page=1000000000000000')).status).toBe(422);
  });
});

describe('authentication', () => {
  it('notes in the log that the public key was sent', async () => {
    const { sim, call } = await cardsOf();
    await call('GET', '/api/cards', undefined, { Authorization: `Bearer ${sim.publicKey}` });
    const { data } = await sim.control<{ data: { notes: string[] }[] }>('/requests');
    expect(data[0]?.notes.join()).toContain('public key');
  });

  it('rejects a replaced key, and the new one does not depend on the seed', async () => {
    const replaced = async () => {
      const { sim, call } = await cardsOf({ seed: 'abc' });
      const { body } = await ask<{ secretKey: string }>(sim, 'POST', '/merchants/mer_demo/keys');
      expect((await call('GET', '/api/cards')).status).toBe(401);
      return body.secretKey;
    };
    expect(await replaced()).not.toBe(await replaced());
  });
});

describe('bad input', () => {
  it.each([
    [
      'a number that cannot be read exactly',
      JSON.stringify(CARD).replace('"250.00"', '99.99999999999999999'),
      422,
    ],
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
    ['GET', '/api/cards/a%2Fb'],
    ['GET', '/api/cards/%zz'],
    ['PUT', '/api/cards/cancel'],
  ])('%s %s gets 404 in the error shape', async (method, path) => {
    const { call } = await cardsOf();
    const answer = await call(method, path);
    expect(answer.status).toBe(404);
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

describe('moving money on a card', () => {
  it('never exceeds the balance, even with simultaneous charges', async () => {
    const { sim, create, move } = await cardsOf();
    const { id } = await create({ amount: '50' });
    const charges = Array.from({ length: 12 }, () => move(id, { type: 'charge', amount: '7.00' }));
    const statuses = (await Promise.all(charges)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 201)).toHaveLength(7);
    const card = await sim.control<{ transactions: unknown[] }>(`/cards/${id}`);
    expect(card).toMatchObject({ availableBalance: '0.50', transactions: { length: 7 } });
  });
});
