import { describe, expect, it } from 'vitest';
import { rawExchange, requestBytes } from '../helpers/raw.ts';
import { startSim } from '../helpers/sim.ts';

/** A request with headers that fetch forbids, such as Host and Sec-Fetch-Site. */
const get = (port: number, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  rawExchange(port, requestBytes(method, path, headers));

const NAVIGATION = { 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };

describe('the Host header of a request to /_sim', () => {
  it.each([
    ['127.0.0.1', 200],
    ['localhost:1234', 200],
    ['LOCALHOST', 200],
    ['shop.localhost', 200],
    ['[::1]:80', 200],
    ['127.9.9.9', 200],
    ['evil.test', 403],
    ['evil.test:4477', 403],
    ['localhost.evil.test', 403],
    ['127.0.0.1.evil.test', 403],
    ['192.168.1.7', 403],
    ['127.0.0.999', 400],
    ['1.2.3.4.5', 400],
    ['public.example.test', 403],
    ['mine.example.test', 403],
  ])('%s gets %i', async (host, status) => {
    const { server } = await startSim();
    for (const path of ['/_sim', '/_sim/status', '/_sim/ui/paid', '/_sim/openapi.json']) {
      expect([path, (await get(server.port, path, { Host: host })).status]).toEqual([path, status]);
    }
  });

  it('may be the host of --public-url or --allow-host, and the error for any other names the flag', async () => {
    const { server } = await startSim({
      publicUrl: 'https://public.example.test',
      allowHost: ['mine.example.test'],
    });
    for (const [host, status] of [
      ['public.example.test', 200],
      ['mine.example.test:99', 200],
      ['evil.test', 403],
    ] as const) {
      const answer = await get(server.port, '/_sim/status', { Host: host });
      expect([host, answer.status]).toEqual([host, status]);
      expect(answer.text.includes('--allow-host evil.test')).toBe(status === 403);
    }
  });

  it('may be anything for livez, readyz and the service', async () => {
    const { server } = await startSim({ host: '0.0.0.0', controlToken: 't' });
    const headers = { Host: 'evil.test', Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site' };
    for (const [path, status] of [
      ['/_sim/livez', 200],
      ['/_sim/readyz', 200],
      ['/initiate/payment/checkout?payment_id=x', 404],
    ] as const) {
      expect([path, (await get(server.port, path, headers)).status]).toEqual([path, status]);
    }
  });
});

describe('the Host header of a request for cards or a checkout', () => {
  const PATHS = [
    '/api/cards',
    '/initiate/payment/checkout?payment_id=x',
    '/sandbox/initiate/payment/checkout?payment_id=x',
  ];

  it.each(['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example:4477', 'evil.example.'])(
    '%s gets 403, because a stranger may own it',
    async (Host) => {
      const { server } = await startSim();
      for (const path of [...PATHS, '/api/cards/card_1', '/initiate/payment/checkout/email?payment_id=x']) {
        const answer = await get(server.port, path, { Host });
        expect([path, answer.status]).toEqual([path, 403]);
        expect(answer.body).toMatch(/start with --allow-host (\w+\.)*evil\.example"/);
      }
    },
  );

  it.each([
    ...['127.0.0.1', '192.168.1.7:4477', '[::1]', 'localhost', 'a.localhost', 'gateway', 'mac.local'],
    ...['pay.test', 'host.docker.internal', 'pay.example.com', 'public.example.com', 'mine.example.com'],
  ])('%s is served', async (Host) => {
    const { server } = await startSim({
      hostAlias: ['pay.example.com'],
      publicUrl: 'https://public.example.com',
      allowHost: ['mine.example.com'],
    });
    const statuses = PATHS.map(async (path) => (await get(server.port, path, { Host })).status);
    expect(await Promise.all(statuses)).toEqual([401, 404, 404]);
  });
});

describe('a request for cards from a page on another site', () => {
  it.each([
    [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
    [{ Origin: 'https://evil.example' }, 403],
    [{ Origin: 'null' }, 403],
    [{ 'Sec-Fetch-Site': 'same-origin' }, 401],
    [{}, 401],
  ])('with %j gets %i', async (headers, status) => {
    const { server } = await startSim();
    expect((await get(server.port, '/api/cards', headers)).status).toBe(status);
  });
});

it('a step of a checkout behind a proxy that changes the Host header names --public-url', async () => {
  const { server } = await startSim();
  const path = '/sandbox/initiate/payment/checkout/email?payment_id=x';
  const answer = await get(
    server.port,
    path,
    { Host: '127.0.0.1:4477', Origin: 'https://pay.local' },
    'POST',
  );
  expect(answer.status).toBe(403);
  expect(answer.body).toContain('start with --public-url https://pay.local');
});

describe('a browser request to /_sim from a page', () => {
  const CASES: [what: string, headers: Record<string, string>, api: number, page: number][] = [
    ['a client that is not a browser', {}, 200, 200],
    ['the dashboard', { 'Sec-Fetch-Site': 'same-origin' }, 200, 200],
    ['the address bar', { 'Sec-Fetch-Site': 'none', ...NAVIGATION }, 200, 200],
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }, 403, 403],
    ['another port of this host', { 'Sec-Fetch-Site': 'same-site' }, 403, 403],
    ['an image on another site', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image' }, 403, 403],
    [
      'a frame on another site',
      { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' },
      403,
      403,
    ],
    ['a link on another site', { 'Sec-Fetch-Site': 'cross-site', ...NAVIGATION }, 403, 200],
    ['an old browser on another site', { Origin: 'https://evil.test' }, 403, 403],
    ['a sandboxed frame', { Origin: 'null' }, 403, 403],
  ];

  it.each(CASES)('from %s', async (_, headers, api, page) => {
    const { server } = await startSim();
    const Host = `127.0.0.1:${server.port}`;
    expect((await get(server.port, '/_sim/status', { Host, ...headers })).status).toBe(api);
    expect((await get(server.port, '/_sim', { Host, ...headers })).status).toBe(page);
  });

  it('may be a POST only from our own pages', async () => {
    const { server, url } = await startSim();
    const Host = `127.0.0.1:${server.port}`;
    const foreign = { Host, Origin: 'https://evil.test', 'Sec-Fetch-Site': 'cross-site', ...NAVIGATION };
    expect((await get(server.port, '/_sim/shutdown', foreign, 'POST')).status).toBe(403);
    expect((await get(server.port, '/_sim/ui/token', foreign, 'POST')).status).toBe(403);
    expect((await fetch(`${url}/_sim/livez`)).status).toBe(200);
  });
});

describe('an emulator that other machines can reach', () => {
  const options = { host: '0.0.0.0', controlToken: 'the-token' };
  const send = (url: string, token: string, path = '/_sim/ui/token') =>
    fetch(url + path, { method: 'POST', redirect: 'manual', body: new URLSearchParams({ token }) });

  it.each([
    [{}, 401],
    [{ Authorization: 'Bearer wrong' }, 401],
    [{ Authorization: 'Basic the-token' }, 401],
    [{ Authorization: 'the-token' }, 401],
    [{ Cookie: 'gateway_sim_token=wrong' }, 401],
    [{ Cookie: 'gateway_sim_token=%zz' }, 401],
    [{ Authorization: 'Bearer the-token' }, 200],
    [{ Authorization: 'bearer the-token' }, 200],
    [{ Cookie: 'a=b; gateway_sim_token=the-token' }, 200],
  ] as [Record<string, string>, number][])(
    'requires the control token: %j gets %i',
    async (headers, status) => {
      const { server } = await startSim(options);
      const answer = await get(server.port, '/_sim/status', headers);
      expect(answer.status).toBe(status);
      expect(answer.text).not.toContain('the-token');
    },
  );

  it('requires the token on every route, and generates one if none is set', async () => {
    const { server } = await startSim({ host: '0.0.0.0' });
    expect(server.controlToken).toMatch(/^[\w-]{20,}$/);
    for (const path of ['status', 'payments', 'merchants', 'openapi.json', 'events', 'nowhere'])
      expect([path, (await get(server.port, `/_sim/${path}`)).status]).toEqual([path, 401]);
    expect((await get(server.port, '/_sim/ui/cards', {}, 'POST')).status).toBe(401);
    const headers = { Authorization: `Bearer ${server.controlToken}` };
    expect((await get(server.port, '/_sim/status', headers)).status).toBe(200);
  });

  it('requires no token on a loopback address, unless one is set', async () => {
    const { server: open } = await startSim();
    expect(open.controlToken).toBeNull();
    expect((await get(open.port, '/_sim/status')).status).toBe(200);
    const { server } = await startSim({ controlToken: 'the-token' });
    expect(server.controlToken).toBe('the-token');
    expect((await get(server.port, '/_sim/status')).status).toBe(401);
  });

  it('warns about a tunnel without a token', async () => {
    const publicUrl = 'https://shop.tunnel.test';
    const { server } = await startSim({ publicUrl });
    expect(server.notices.join()).toContain('--control-token');
    expect((await startSim({ publicUrl, controlToken: 'the-token' })).server.notices).toEqual([]);
    expect((await startSim({ publicUrl: 'http://localhost:8080' })).server.notices).toEqual([]);
  });

  it('redirects to the requested page, and never to another site', async () => {
    const { server, url } = await startSim(options);
    const prompt = await get(server.port, '/_sim/ui/ipns?state=failed');
    const [, action = ''] = /action="([^"]*)"/.exec(prompt.text) ?? [];
    expect(action).toBe('/_sim/ui/token?to=%2F_sim%2Fui%2Fipns%3Fstate%3Dfailed');
    expect(await (await send(url, 'wrong', action)).text()).toContain(`action="${action}"`);
    const targetOf = async (path: string) => (await send(url, 'the-token', path)).headers.get('location');
    expect(await targetOf(action)).toBe('/_sim/ui/ipns?state=failed');
    for (const to of [
      '//evil.test',
      'https://evil.test/_sim',
      '/_sim/../x',
      '/_sim\\evil.test',
      '/_simulator',
    ])
      expect([to, await targetOf(`/_sim/ui/token?${new URLSearchParams({ to })}`)]).toEqual([to, '/_sim']);
  });

  it('asks for the token once on the dashboard, and stores it in its own cookie', async () => {
    const { server, url, publicKey } = await startSim(options);
    const prompt = await get(server.port, '/_sim');
    expect(prompt.status).toBe(401);
    expect(prompt.text).toContain('name="token"');
    expect(prompt.text).not.toContain(publicKey);
    const wrong = await send(url, 'wrong');
    expect([wrong.status, wrong.headers.get('set-cookie')]).toEqual([401, null]);
    expect(await wrong.text()).toContain('role="alert"');
    const right = await send(url, ' the-token ');
    expect([right.status, right.headers.get('location')]).toEqual([303, '/_sim']);
    const cookie = right.headers.get('set-cookie') ?? '';
    expect(cookie).toMatch(/; HttpOnly/);
    expect(cookie).toMatch(/; SameSite=Strict/);
    const [pair = ''] = cookie.split(';');
    const shown = await get(server.port, '/_sim', { Cookie: pair });
    expect([shown.status, shown.text]).toEqual([200, expect.stringContaining(publicKey)]);
  });
});
