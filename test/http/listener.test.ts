import { expect, it } from 'vitest';
import { payOnCheckout } from '../../src/conform/checkout.ts';
import { Target } from '../../src/conform/target.ts';
import { PLACES } from '../../src/http/pages/dashboard/paths.ts';
import { idOf, ORDER, startSim } from '../helpers/sim.ts';

const INITIATE = '/sandbox/payment/initiate';

it.each([
  ['--public-url', { publicUrl: 'https://pay.example.com/xcash/' }, 'https://pay.example.com/xcash/sandbox/'],
  ['--host-alias', { hostAlias: ['pay.example.com/xcash'] }, /^http:\/\/127\.0\.0\.1:\d+\/sandbox\//],
])('routes are served below the path of %s', async (_, options, checkout) => {
  const { url, initiate } = await startSim(options);
  const statusOf = async (path: string, method = 'POST') =>
    (await fetch(url + path, { method, ...(method === 'POST' && { body: new URLSearchParams() }) })).status;
  for (const base of ['', '/xcash']) {
    expect(await statusOf(`${base}${INITIATE}`)).toBe(200);
    expect(await statusOf(`${base}/api/cards`, 'GET')).toBe(401);
    expect(await statusOf(`${base}/_sim/livez`, 'GET')).toBe(200);
  }
  expect(await statusOf(`/xcashier${INITIATE}`)).toBe(404);
  expect(await initiate(ORDER)).toMatch(checkout);
});

it('a customer can pay below the path of --public-url, with or without a proxy that strips it', async () => {
  const sim = await startSim({ publicUrl: 'https://pay.example.com/xcash' });
  const url = await sim.initiate(ORDER);
  const target = new Target({ ...sim, live: true });
  target.isEmulator = true;
  const { pathname, search } = new URL(url);
  for (const path of [pathname, pathname.slice('/xcash'.length)]) {
    const page = await target.send(path + search, { headers: [['Accept', 'text/html']] });
    expect(page.body).toContain('action="/xcash/sandbox/initiate/payment/checkout/email?');
  }
  expect(await payOnCheckout(target, pathname + search)).toBe(ORDER['success_url']);
});

it('the dashboard below the path of --public-url links only to addresses below it', async () => {
  const { url, initiate } = await startSim({ publicUrl: 'http://localhost/xcash' });
  const id = idOf(await initiate(ORDER));
  const places = Object.values(PLACES).map(({ path }) => path);
  const pages = ['', ...places, '/_sim/ui/paid', `/_sim/ui/payments/${id}`];
  for (const path of [...pages, `/sandbox/initiate/payment/checkout?payment_id=${id}`]) {
    const response = await fetch(`${url}/xcash${path}`, { headers: { Accept: 'text/html' } });
    const html = await response.text();
    expect([path, response.status, html.includes('="/xcash/_sim')]).toEqual([path, 200, true]);
    const others = [...html.matchAll(/[\w-]+="\/_sim[^"]*/g)].map(String);
    // Values are sent to the emulator, which knows no base path.
    expect(others.filter((link) => !link.startsWith('value='))).toEqual([]);
  }
  const post = (confirm: string) =>
    fetch(`${url}/xcash/_sim/ui/settings/reset`, {
      method: 'POST',
      body: new URLSearchParams({ confirm }),
      redirect: 'manual',
    });
  expect(await (await post('no')).text()).toContain('action="/xcash/_sim/ui/settings/reset"');
  expect((await post('reset')).headers.get('location')).toBe('/xcash/_sim');
});

it('a token that is entered below the path of --public-url is valid with and without that path', async () => {
  const { url } = await startSim({ publicUrl: 'http://localhost/xcash', controlToken: 'the-token' });
  const { status, headers } = await fetch(`${url}/xcash/_sim/ui/token?to=/_sim/ui/ipns`, {
    method: 'POST',
    body: new URLSearchParams({ token: 'the-token' }),
    redirect: 'manual',
  });
  expect([status, headers.get('location')]).toEqual([303, '/xcash/_sim/ui/ipns']);
  const paths = headers.getSetCookie().map((cookie) => /Path=([^;]*)/.exec(cookie)?.[1]);
  expect(paths).toEqual(['/_sim', '/xcash/_sim']);
});

it('a base path does not change a route of the service that begins with it', async () => {
  const { url } = await startSim({ publicUrl: 'https://pay.example.com/sandbox' });
  const answer = await fetch(`${url}${INITIATE}`, { method: 'POST', body: new URLSearchParams() });
  expect(await answer.json()).toMatchObject({ error: 'true' });
  expect((await fetch(`${url}/sandbox/api/cards`)).status).toBe(401);
});
