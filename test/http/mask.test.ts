import { describe, expect, it } from 'vitest';
import type { SimEvent } from '../../src/contract/event.ts';
import { type Answer, startReceiver } from '../helpers/receiver.ts';
import { CARD } from '../helpers/records.ts';
import { idOf, ORDER, type Sim, startSim } from '../helpers/sim.ts';

// `+` differs in a form and in an address, and may be part of a header's name.
const SECRET = 'sec_sim_0123456789+bcdefghijklmnop+rstuv';
const TOKEN = 'token_0123456789+bcdefghij';
const FORM = 'application/x-www-form-urlencoded';

/** Puts the secrets into every part of a request and into a response, and settles a payment that contains them. */
async function leakEverywhere(sim: Sim): Promise<{ id: string; ipn: string }> {
  const { url, publicKey } = sim;
  const control = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
  const answered = (secret: string): Answer => ({
    headers: { 'X-Said': secret, 'Set-Cookie': secret },
    body: `the key is ${secret}`,
  });
  const receiver = await startReceiver([answered(SECRET), answered(TOKEN)]);
  const post = (path: string, type: string, body: string, headers: Record<string, string> = {}) =>
    fetch(url + path, { method: 'POST', body, headers: { ...headers, 'Content-Type': type } });
  for (const secret of [SECRET, TOKEN]) {
    const encoded = encodeURIComponent(secret);
    const headers = {
      'X-Api-Key': secret,
      [secret]: 'x',
      Cookie: `a=${secret}`,
      Referer: `http://a/${secret}`,
    };
    await fetch(`${url}/nowhere/${encoded}?key=${encoded}&${encoded}=1`, { headers });
    await fetch(`${url}/initiate/payment/checkout?payment_id=${encoded}`);
    await post('/payment/initiate', FORM, String(new URLSearchParams({ [secret]: secret })));
    await post('/payment/initiate', 'application/json', `{"public_key":"x","${secret}":"${secret}"}`);
    await post('/payment/initiate', 'application/json', `{"a":"${secret}`);
    await post('/payment/initiate', `text/${secret}`, secret);
    const part = `Content-Disposition: form-data; name="${secret}"; filename="${secret}"`;
    const multipart = `--x\r\n${part}\r\n\r\n${secret}\r\n--x--\r\n`;
    await post('/payment/initiate', 'multipart/form-data; boundary=x', multipart);
    const card = { ...CARD, title: secret, name_on_card: secret };
    const bearer = { Authorization: `Bearer ${SECRET}` };
    await post('/api/cards/save', 'application/json', JSON.stringify(card), bearer);
    const ipn = { to: receiver.url, amount: '1.00', identifier: secret, set: { status: secret } };
    await post('/_sim/ipns', 'application/json', JSON.stringify(ipn), control);
    const rule = { route: `/never/${secret}`, drop: true };
    await post('/_sim/faults', 'application/json', JSON.stringify(rule), control);
  }
  const [details, ipn_url] = [`${SECRET} ${TOKEN}`, `${receiver.url}?k=${SECRET}`];
  const order = { ...ORDER, public_key: publicKey, details, ipn_url };
  const initiated = await post('/sandbox/payment/initiate', FORM, String(new URLSearchParams(order)));
  const { url: checkout = '' } = (await initiated.json()) as { url?: string };
  await fetch(checkout, { headers: { Cookie: `a=${SECRET}`, Authorization: `Bearer ${TOKEN}` } });
  const id = idOf(checkout);
  const outcome = JSON.stringify({ outcome: 'approve' });
  const settled = await post(`/_sim/payments/${id}/settle`, 'application/json', outcome, control);
  const { delivery } = (await settled.json()) as { delivery: { id: string } };
  expect(receiver.requests.at(-1)?.url).toContain(SECRET);
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
      '/cards',
      '/faults',
      '',
      '/ui/ipns',
      '/ui/requests',
      '/ui/requests/1',
      `/ui/payments/${id}`,
      `/ui/ipns/${ipn}`,
    ];
    for (const path of paths) {
      const text = (await read(sim, path)).replaceAll('%2B', '+');
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
    expect(sim.server.parts.payments.all.get(id)?.details).toContain(SECRET);
    for (const path of ['/merchants', '/snapshot', '/ui/settings'])
      expect(await read(sim, path)).toContain(SECRET);
  });
});
