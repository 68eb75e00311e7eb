import { describe, expect, it } from 'vitest';
import { bother } from '../helpers/hostile-clients.ts';
import { rawExchange } from '../helpers/raw.ts';
import { fields } from '../helpers/records.ts';
import { brokenApp, startSim } from '../helpers/sim.ts';

const HOST = 'Host: 127.0.0.1\r\n';
const CLOSE = 'Connection: close\r\n';
const POST = `POST /payment/initiate HTTP/1.1\r\n${HOST}`;
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n';
/** A request in the body of another one, which must get no response. */
const SMUGGLED = `GET /_sim/livez HTTP/1.1\r\n${HOST}${CLOSE}\r\n`;

/** Malformed requests, and their expected statuses. */
const MALFORMED: [what: string, request: string | Buffer, statuses: number[]][] = [
  ['a garbage request line', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n', [400]],
  ['an unknown method', `BREW / HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400, 405]],
  ['CONNECT', `CONNECT example.com:443 HTTP/1.1\r\n${HOST}\r\n`, [400, 404, 405]],
  ['no Host', `GET /_sim/livez HTTP/1.1\r\n${CLOSE}\r\n`, [400]],
  ['an invalid host name', `GET / HTTP/1.1\r\nHost: a b\r\n${CLOSE}\r\n`, [400]],
  ['two Hosts', `GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.test\r\n${CLOSE}\r\n`, [302, 400]],
  ['headers of 100 KiB', `GET / HTTP/1.1\r\n${HOST}X: ${'x'.repeat(102_400)}\r\n\r\n`, [431]],
  ['a NUL in a header', `GET / HTTP/1.1\r\n${HOST}X: a\0b\r\n\r\n`, [400]],
  ['an encoded NUL in the path', `GET /a%00b HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [404]],
  ['a bad escape in the path', `GET /%zz HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400, 404]],
  [
    'a bad escape in the query',
    `GET /initiate/payment/checkout?payment_id=%E0%A4%A HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
    [404],
  ],
  ['an absolute target', `GET http://evil.test/_sim/status HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [400, 403]],
  ['a double slash', `GET //evil.test/_sim HTTP/1.1\r\n${HOST}${CLOSE}\r\n`, [404]],
  ['both kinds of length', `${POST}Content-Length: 3\r\n${CHUNKED}0\r\n\r\n${SMUGGLED}`, [400]],
  ['two lengths', `${POST}Content-Length: 4\r\nContent-Length: 5\r\n\r\na=bc${SMUGGLED}`, [400]],
  ['a negative length', `${POST}Content-Length: -1\r\n\r\n${SMUGGLED}`, [400]],
  ['a chunk without a size', `${POST}${CHUNKED}zz\r\nhello\r\n${SMUGGLED}`, [400]],
  ['a chunk that is longer than its size', `${POST}${CHUNKED}1\r\nhello\r\n0\r\n\r\n${SMUGGLED}`, [400]],
  [
    'an upgrade to WebSocket',
    `GET / HTTP/1.1\r\n${HOST}Connection: Upgrade, close\r\nUpgrade: websocket\r\n\r\n`,
    [302, 400],
  ],
];

describe('malformed HTTP', () => {
  it.each(MALFORMED)('with %s gets a response from the emulator', async (_, request, statuses) => {
    const { server } = await startSim();
    const answer = await rawExchange(server.port, request);
    expect(answer).toMatchObject({ headers: { 'x-gateway-sim': '1' } });
    expect(answer.text.match(/^HTTP\//gm)).toHaveLength(1);
    expect(statuses).toContain(answer.status);
    const isPage = answer.headers['content-type']?.startsWith('text/html');
    if (answer.status >= 400 && !isPage) expect(JSON.parse(answer.body)).toMatchObject({ error: 'true' });
    expect((await fetch(`${server.url}/_sim/livez`)).status).toBe(200);
  });

  it('of clients that disconnect early disturbs nobody else', async () => {
    const { url } = await startSim();
    await bother(url);
    expect((await fetch(`${url}/_sim/livez`)).status).toBe(200);
  });
});

describe('a request without a route', () => {
  it.each([
    ['/sandbox/initiate', '/sandbox/payment/initiate'],
    ['/api/payment/initiate', '/payment/initiate'],
  ])('%s never suggests a route of the other mode', async (path, nearest) => {
    const { url } = await startSim();
    const { message } = (await (await fetch(url + path, { method: 'POST' })).json()) as { message: string };
    expect(message).toMatch(new RegExp(`the nearest route is \\S+ ${nearest}(/|$|\\. To serve)`));
  });

  it.each([
    ['//sandbox/payment/initiate', 'the nearest route is POST /sandbox/payment/initiate'],
    ['/sandbox/payment/initiate/', 'the nearest route is POST /sandbox/payment/initiate'],
  ])('%s names the route without the slashes', async (path, expected) => {
    const { url } = await startSim();
    const { message } = (await (await fetch(url + path, { method: 'POST' })).json()) as { message: string };
    expect(message).toBe(`there is no route POST ${path}; ${expected}`);
  });

  it('that is near none of the emulator names none', async () => {
    const { url } = await startSim();
    const { message } = (await (await fetch(`${url}/_sim/nope`)).json()) as { message: string };
    expect(message).toBe('there is no route GET /_sim/nope');
  });

  it('below a base path says how to serve the routes there, also in the log', async () => {
    const { server, url, control } = await startSim();
    const post = `POST /xcash/sandbox/payment/initiate HTTP/1.1\r\n${CLOSE}Content-Length: 0\r\nHost: `;
    const named = await rawExchange(server.port, `${post}pay.shop.test\r\n\r\n`);
    const { message } = JSON.parse(named.body) as { message: string };
    expect(message).toBe(
      'there is no route POST /xcash/sandbox/payment/initiate; the nearest route is POST /sandbox/payment/initiate. To serve all routes below /xcash, start with --host-alias pay.shop.test/xcash',
    );
    const here = await fetch(`${url}/xcash/payment/initiate`, { method: 'POST' });
    expect(await here.json()).toMatchObject({
      message: expect.stringMatching(
        `the nearest route is POST /payment/initiate. .* --public-url ${url}/xcash, .* --host-alias pay.example.com/xcash`,
      ),
    });
    const { data } = await control<{ data: { notes: string[] }[] }>('/requests');
    expect(data[1]?.notes).toEqual([message]);
  });

  it('gets the methods of a route that has others', async () => {
    const { url } = await startSim();
    const ask = async (path: string, method = 'POST') => {
      const answer = await fetch(url + path, { method });
      return [answer.status, ((await answer.json()) as { message: string }).message];
    };
    expect(await ask('/')).toEqual([405, expect.stringMatching(/use POST \/sandbox\/payment\/initiate$/)]);
    expect(await ask('/_sim/payments/order-1')).toEqual([405, expect.stringMatching(/use GET$/)]);
    expect(await ask('/_sim/reset', 'GET')).toEqual([405, expect.stringMatching(/use POST$/)]);
  });

  it.each([
    ['HEAD', '/payment/initiate', ['OPTIONS', 'POST']],
    ['DELETE', '/initiate/payment/checkout', ['GET', 'POST']],
    ['GET', '/initiate/payment/checkout/email', ['POST']],
  ])('%s %s is a 405 with the methods in Allow', async (method, path, allowed) => {
    const { url } = await startSim();
    const response = await fetch(url + path, { method });
    expect(response.status).toBe(405);
    const allow = response.headers.get('allow')?.split(', ') ?? [];
    expect(allow).toEqual(expect.arrayContaining(allowed));
    if (method !== 'HEAD') expect(await response.json()).toMatchObject({ error: 'true' });
  });

  it('with HEAD gets the response to GET without a body', async () => {
    const { url } = await startSim();
    for (const path of ['/_sim', '/_sim/status', '/nowhere']) {
      const head = await fetch(url + path, { method: 'HEAD' });
      expect([path, head.status]).toEqual([path, (await fetch(url + path)).status]);
      expect(await head.text()).toBe('');
    }
  });
});

describe('an internal error', () => {
  it.each([
    'POST /payment/initiate',
    'GET /_sim/payments',
    'GET /initiate/payment/checkout?payment_id=pay_1',
  ])('on %s is reported, and returns 500 in the error shape without its details', async (request) => {
    const [method = '', path = ''] = request.split(' ');
    const { app, reported } = await brokenApp();
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const response = await app.request(path, {
      method,
      ...(method === 'POST' && {
        headers: form,
        body: new URLSearchParams(fields() as Record<string, string>).toString(),
      }),
    });
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ error: 'true' });
    expect(JSON.parse(text)).not.toHaveProperty('success');
    expect(text).not.toContain('the details');
    expect(reported).toEqual([expect.objectContaining({ message: 'the details' })]);
  });
});
