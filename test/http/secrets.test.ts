import { describe, expect, it } from 'vitest';
import type { SimEvent } from '../../src/contract/event.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { idOf, ORDER, type Sim, startSim } from '../helpers/sim.ts';

const SECRET = 'sec_sim_0123456789abcdefghijklmnopqrstuv';
const TOKEN = 'token_0123456789abcdefghij';

/** Puts the secret into every part of a request and into a response, and settles a payment that contains it. */
async function leakEverywhere(sim: Sim): Promise<{ id: string; ipn: string }> {
  const { url, publicKey } = sim;
  const headers = { Authorization: `Bearer ${TOKEN}` };
  await fetch(`${url}/nowhere/${SECRET}?key=${encodeURIComponent(SECRET)}&token=${TOKEN}`, {
    headers: { 'X-Api-Key': SECRET, 'X-Token': TOKEN },
  });
  await fetch(`${url}/payment/initiate`, { method: 'POST', body: new URLSearchParams({ [SECRET]: SECRET }) });
  const receiver = await startReceiver([{ body: `the key is ${SECRET}` }]);
  const fields = { ...ORDER, public_key: publicKey, details: SECRET, ipn_url: `${receiver.url}?k=${SECRET}` };
  const body = new URLSearchParams(fields);
  const { url: checkout = '' } = (await (
    await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', body })
  ).json()) as { url?: string };
  const id = idOf(checkout);
  const settled = await fetch(`${url}/_sim/payments/${id}/settle`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ outcome: 'approve' }),
  });
  const { delivery } = (await settled.json()) as { delivery: { id: string } };
  expect(receiver.requests[0]?.url).toContain(SECRET);
  return { id, ipn: delivery.id };
}

async function read({ url }: Sim, path: string): Promise<string> {
  const answer = await fetch(`${url}/_sim${path}`, { headers: { Authorization: `Bearer ${TOKEN}` } });
  expect(answer.status).toBe(200);
  return answer.text();
}

describe('the secret key and the control token', () => {
  it('are not in any record, event, log or page, wherever they were sent', async () => {
    const sim = await startSim({ secretKey: SECRET, controlToken: TOKEN });
    const seen: SimEvent[] = [];
    sim.server.onEvent((event) => seen.push(event));
    const { id, ipn } = await leakEverywhere(sim);
    const paths = [
      '/requests',
      '/events?since=0&follow=false',
      '/payments',
      `/payments/${id}`,
      '/ipns',
      `/ipns/${ipn}`,
      '/status',
      '',
      '/ui/ipns',
      '/ui/requests',
      '/ui/requests/1',
      `/ui/payments/${id}`,
      `/ui/ipns/${ipn}`,
    ];
    for (const path of paths) {
      const text = await read(sim, path);
      expect([path, text.includes(SECRET), text.includes(TOKEN)]).toEqual([path, false, false]);
    }
    expect(JSON.stringify(seen)).not.toContain(SECRET);
    expect(JSON.stringify(seen)).not.toContain(TOKEN);
    expect(await read(sim, '/requests')).toContain('the secret key was sent in details');
  });

  it('are masked in old records even after they were replaced', async () => {
    const sim = await startSim({ secretKey: SECRET, controlToken: TOKEN });
    await leakEverywhere(sim);
    await sim.server.parts.merchants.replaceKeys(sim.server.parts.merchants.default.id);
    expect(await read(sim, '/requests')).not.toContain(SECRET);
  });

  it('stay in the stored state, and are visible with the keys', async () => {
    const sim = await startSim({ secretKey: SECRET, controlToken: TOKEN });
    const { id } = await leakEverywhere(sim);
    expect(sim.server.parts.payments.all.get(id)?.details).toBe(SECRET);
    for (const path of ['/merchants', '/snapshot', '/ui/keys'])
      expect(await read(sim, path)).toContain(SECRET);
  });
});
