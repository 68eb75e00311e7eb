import { describe, expect, it } from 'vitest';
import type { SimEvent } from '../../src/contract/event.ts';
import type { Settled } from '../../src/contract/payment.ts';
import { type Answer, startReceiver } from '../helpers/receiver.ts';
import { CARD } from '../helpers/records.ts';
import { ask, idOf, ORDER, type Sim, startSim } from '../helpers/sim.ts';

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
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.text();
}

describe('the secret key and the control token', () => {
  it('are not in any record, event, log or page, wherever they were sent', async () => {
    const sim = await startSim({ secretKey: SECRET, controlToken: TOKEN });
    const seen: SimEvent[] = [];
    await sim.server.onEvent((event) => seen.push(event));
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
    expect(sim.server.parts.store.state.payments.get(id)?.details).toContain(SECRET);
    for (const path of ['/merchants', '/snapshot', '/ui/settings'])
      expect(await read(sim, path)).toContain(SECRET);
  });
});

/** Valid in an address, and changed by every encoding. */
const PASSWORD = `h'u"n<t>e&r@2%22`;
const LOGIN = `http://shop:${PASSWORD}@`;
/** What no output may contain: parts of the password that are in no other text. */
const LEAKS = [/h(?:'|%27|&#0?39;|\\u0027)u/i, /e(?:&amp;|&|%26|\\u0026)r/i, /c2hvc[A-Za-z0-9+/=]{9}/];

const htmlOf = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll("'", '&#039;').replaceAll('<', '&lt;');
const php = (value: unknown) =>
  JSON.stringify(value)
    .replaceAll('/', '\\/')
    .replace(/['&<>]/g, (one) => `\\u00${one.charCodeAt(0).toString(16)}`);

describe('the password of an address', () => {
  it('is in no event, log or page, and in records as sent', async () => {
    const sim = await startSim();
    const seen: SimEvent[] = [];
    await sim.server.onEvent((event) => seen.push(event));
    const receiver = await startReceiver(({ headers }) => {
      const echo = `${headers.authorization} ${LOGIN}localhost`;
      return {
        status: 400,
        headers: { 'X-Echo': encodeURIComponent(echo) },
        body: `<p>${htmlOf(echo)}</p> ${php(echo)}`,
      };
    });
    const at = (path: string) => `${LOGIN}127.0.0.1:${receiver.port}${path}`;
    const urls = { ipn_url: at('/ipn'), success_url: at('/paid'), cancel_url: at('/canceled') };
    const post = (fields: Readonly<Record<string, string>>) => {
      const body = new URLSearchParams({ ...ORDER, ...urls, ...fields });
      return fetch(`${sim.url}/sandbox/payment/initiate`, { method: 'POST', body });
    };
    await post({ public_key: 'unknown', details: 'x'.repeat(20_000) });
    await post({
      public_key: 'unknown',
      ipn_url: `http://shop:${PASSWORD}/@localhost`,
      cancel_url: at(' '),
    });
    const { url: checkout = '' } = (await (await post({ public_key: sim.publicKey })).json()) as {
      url?: string;
    };
    const id = idOf(checkout);
    const { body } = await ask<Settled>(sim, 'POST', `/payments/${id}/settle`, {
      outcome: 'approve',
      visit: true,
    });
    const ipn = body.delivery?.id;
    await ask(sim, 'POST', '/ipns', { to: at('/other'), amount: '1.00', identifier: 'x' });
    const paths = [
      '',
      '/ui/requests',
      '/ui/requests/1',
      '/ui/requests/2',
      `/ui/payments/${id}`,
      `/ui/ipns/${ipn}`,
    ];
    const shown = ['/requests', '/events?since=0&follow=false', ...paths, '?status=ipn-not-accepted'];
    const texts = await Promise.all(shown.map(async (path) => [path, await read(sim, path)] as const));
    for (const [path, text] of [...texts, ['the log', JSON.stringify(seen)] as const]) {
      expect([path, LEAKS.map((leak) => leak.exec(text)?.[0])]).toEqual([path, LEAKS.map(() => undefined)]);
    }
    expect(texts.map(([, text]) => text).join()).toMatch(/shop(?::|%3A)…(?:@|%40)/);
    expect(await sim.control(`/payments/${id}`)).toMatchObject({
      ipnUrl: at('/ipn'),
      successUrl: at('/paid'),
    });
    expect(await sim.control(`/ipns/${ipn}`)).toMatchObject({ url: at('/ipn') });
  });

  it('is masked in an old record, too, and in the options', async () => {
    const sim = await startSim({ forwardIpn: `${LOGIN}127.0.0.1:9/` });
    const snapshot = await sim.control<object>('/snapshot');
    await sim.initiate({ ...ORDER, ipn_url: `${LOGIN}127.0.0.1:9/ipn` });
    const own = await sim.control<object>('/snapshot');
    await ask(sim, 'PUT', '/snapshot', snapshot);
    await ask(sim, 'PUT', '/snapshot', own);
    for (const path of ['', '/ui/settings', '/events?since=0&follow=false'])
      expect(await read(sim, path)).not.toMatch(LEAKS[0] ?? '');
  });
});
