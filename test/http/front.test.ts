import { existsSync, readFileSync, statSync } from 'node:fs';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { SimEvent } from '../../src/contract/event.ts';
import { createFront, type FrontOptions } from '../../src/http/front.ts';
import { listen } from '../../src/http/listener.ts';
import { readJson, request } from '../../src/library/control-client.ts';
import type { StartOptions } from '../../src/options/start-options.ts';
import { issue } from '../../src/tls/certificates.ts';
import { LOOPBACK_NAMES } from '../helpers/certificates.ts';
import { exchange, rawExchange, requestBytes } from '../helpers/raw.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, startSim } from '../helpers/sim.ts';
import { connected, inTunnel, secured, textUntil, tunnel } from '../helpers/tunnel.ts';

const ALIAS = 'pay.example.com';
const INITIATE = '/sandbox/payment/initiate';
const FORM = 'application/x-www-form-urlencoded';
const PROXY: StartOptions = { proxy: true, hostAlias: [ALIAS, 'Gateway.Example.NET'] };

/** An emulator with HTTPS, and the certificate to trust. */
async function startSecure(options: StartOptions = {}) {
  const sim = await startSim({ tls: true, ...options });
  const caFile = sim.server.tlsCa ?? '';
  return { ...sim, port: sim.server.port, caFile, ca: readFileSync(caFile, 'utf8') };
}

const form = (publicKey: string, more: Record<string, string> = {}) =>
  new URLSearchParams({ public_key: publicKey, ...ORDER, ...more }).toString();

/** The bytes of a request with a form that closes its connection. */
const posting = (path: string, host: string, body: string) =>
  requestBytes('POST', path, { Host: host, 'Content-Type': FORM }, body).toString();

const getting = (path: string, host: string) =>
  requestBytes('GET', path, { Host: host, 'Content-Length': undefined }).toString();

describe('https', () => {
  it.each(LOOPBACK_NAMES)('responds on %s to a client that trusts only tlsCa', async (name) => {
    const { port, caFile, url } = await startSecure();
    expect(url).toBe(`https://127.0.0.1:${port}`);
    const host = name.includes(':') ? `[${name}]` : name;
    const answer = await request(`https://${host}:${port}/_sim/readyz`, { tlsCa: caFile });
    expect(await readJson(answer)).toEqual({ status: 'ready' });
    await expect(request(`https://${host}:${port}/_sim/readyz`)).rejects.toMatchObject({
      code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
    });
  });

  it('shows a plain HTTP client the right address', async () => {
    const { port, url } = await startSecure();
    for (const path of ['/', '/nowhere', '/_sim/status', INITIATE]) {
      const { status, body, headers } = await rawExchange(port, getting(path, '127.0.0.1'));
      const message = `this port serves HTTPS only: use ${url}`;
      expect([path, status, JSON.parse(body)]).toMatchObject([path, 400, { error: 'true', message }]);
      expect(headers['x-gateway-sim']).toBe('1');
    }
  });

  it('responds to bytes that are neither HTTP nor TLS', async () => {
    const { port } = await startSecure();
    expect((await rawExchange(port, '\0\0\0 what?\r\n\r\n')).status).toBe(400);
    expect((await rawExchange(port, '\x16\x03\x01\x00\x04\xff\0\0\0')).reset).toBe(false);
  });

  it('keeps the certificate in a private folder, which is removed on a stop', async () => {
    const { server, caFile } = await startSecure();
    expect(statSync(dirname(caFile)).mode & 0o777).toBe(0o700);
    await server.stop();
    expect(existsSync(dirname(caFile))).toBe(false);
  });

  it('has the same guards: rejects a page on another site and a foreign Host', async () => {
    const { port, ca } = await startSecure();
    const get = async (host: string, ...headers: string[]) => {
      const socket = await secured(await connected(port), ca, 'localhost');
      const lines = headers.map((line) => `${line}\r\n`).join('');
      return (await exchange(socket, getting('/_sim/status', host).replace(/\r\n$/, `${lines}\r\n`))).status;
    };
    const own = `localhost:${port}`;
    expect(await get('evil.example')).toBe(403);
    expect(await get(own, 'Origin: https://evil.example', 'Sec-Fetch-Site: cross-site')).toBe(403);
    expect(await get(own, `Origin: https://${own}`)).toBe(200);
  });
});

describe('the proxy', () => {
  it.each([ALIAS, 'gateway.example.net'])('tunnels a CONNECT to %s to the service', async (host) => {
    const { port, ca, publicKey, url } = await startSecure(PROXY);
    const { text } = await inTunnel(port, host, ca, posting(INITIATE, host, form(publicKey)));
    // A browser without the proxy must reach the checkout, too.
    expect(JSON.parse(text.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      success: 'ok',
      url: expect.stringMatching(`^${url}/sandbox/initiate/payment/checkout\\?`),
    });
  });

  it('serves several requests in one tunnel, in HTTP/1.1', async () => {
    const { port, ca, publicKey } = await startSecure(PROXY);
    const { socket } = await tunnel(port, `${ALIAS}:443`);
    const secure = await secured(socket, ca, ALIAS);
    expect(secure.alpnProtocol).toBe('http/1.1');
    const request = posting(INITIATE, ALIAS, form(publicKey)).replace('Connection: close\r\n', '');
    for (const _ of [1, 2]) {
      const answer = textUntil(secure, '}');
      secure.write(request);
      expect(await answer).toContain('"success":"ok"');
    }
  });

  it('accepts http and https URLs of an alias in plain HTTP, because some clients open no tunnel', async () => {
    for (const { server, publicKey } of [await startSim(PROXY), await startSecure(PROXY)]) {
      for (const scheme of ['http', 'https']) {
        const path = `${scheme}://${ALIAS}${INITIATE}`;
        const { body } = await rawExchange(server.port, posting(path, ALIAS, form(publicKey)));
        expect(JSON.parse(body)).toMatchObject({ success: 'ok' });
      }
      const own = await rawExchange(server.port, getting(`HTTP://${ALIAS.toUpperCase()}:80?x=1`, ALIAS));
      expect([own.status, own.body]).toEqual([403, expect.stringContaining('/ is not served')]);
      const other = await rawExchange(server.port, getting('https://other.example/x', 'other.example'));
      const fix = 'start with --host-alias other.example. Otherwise set no_proxy=other.example';
      expect([other.status, other.body]).toEqual([403, expect.stringContaining(fix)]);
    }
  });

  it('is suggested to a client that sends proxy requests to an emulator without --proxy', async () => {
    const { server } = await startSecure();
    const { body } = await rawExchange(server.port, getting(`https://${ALIAS}/`, ALIAS));
    expect(body).toContain(`start with --proxy --host-alias ${ALIAS}`);
    const plain = await startSim();
    const path = `https://${ALIAS}${INITIATE}`;
    const answered = await rawExchange(plain.server.port, posting(path, ALIAS, form(plain.publicKey)));
    expect(JSON.parse(answered.body)).toMatchObject({ success: 'ok' });
  });

  const UNKNOWN = [
    'shop.example:443',
    `${ALIAS}:80`,
    `${ALIAS}:4477`,
    `evil.${ALIAS}:443`,
    `${ALIAS}.evil.example:443`,
    `user@${ALIAS}:443`,
    '127.0.0.1:443',
    'localhost:443',
    '169.254.169.254:80',
    '[::1]:443',
    `${ALIAS}:0443x`,
  ];
  it('refuses a CONNECT to any other host or port, and names the hosts it serves', async () => {
    const { port } = await startSecure(PROXY);
    for (const target of UNKNOWN) {
      const { status, text } = await tunnel(port, target);
      expect([target, status, text]).toEqual([target, 403, expect.stringContaining('X-Gateway-Sim: 1')]);
      const whole = await exchange(await connected(port), `CONNECT ${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
      expect(whole.text).toContain(`this proxy serves only ${ALIAS}, gateway.example.net`);
    }
  });

  it('reports once for each host why it rejected a request, and which flag to set', async () => {
    const sim = await startSecure(PROXY);
    const notices: (SimEvent & { type: 'notice' })[] = [];
    await sim.server.onEvent((event) => event.type === 'notice' && notices.push(event));
    const other = getting('http://other.example/x', 'other.example');
    for (const _ of [1, 2]) await rawExchange(sim.port, other);
    await tunnel(sim.port, 'other.example:443');
    await rawExchange(sim.port, getting('http://me:hidden@third.example/', 'third.example'));
    await inTunnel(sim.port, ALIAS, sim.ca, getting('/', 'fourth.example'));
    const why = (host: string) =>
      expect.stringContaining(`start with --host-alias ${host}. Otherwise set no_proxy`);
    expect(notices).toMatchObject([
      { host: 'other.example', text: why('other.example') },
      { host: 'third.example', text: expect.stringContaining('…@third.example') },
      { host: 'fourth.example', text: why('fourth.example') },
    ]);
  });

  it.each([
    ['without --tls', PROXY, 403, 'needs HTTPS: start with --tls'],
    ['without --proxy', { tls: true }, 405, `start with --tls --proxy --host-alias ${ALIAS}`],
    ['without either', {}, 405, `start with --tls --proxy --host-alias ${ALIAS}`],
  ])('refuses and reports a CONNECT %s', async (_, options, refusal, flags) => {
    const { server } = await startSim(options);
    const texts: string[] = [];
    await server.onEvent((event) => event.type === 'notice' && texts.push(event.text));
    const { status, socket } = await tunnel(server.port, `${ALIAS}:443`);
    socket.destroy();
    expect([status, texts]).toEqual([refusal, [expect.stringContaining(flags)]]);
  });

  it('never shows the proxy password of a client', async () => {
    const { server, publicKey, control } = await startSim(PROXY);
    const given = posting(`http://${ALIAS}${INITIATE}`, ALIAS, form(publicKey)).replace(
      'Connection: close',
      'Proxy-Authorization: Basic c2VjcmV0OnBhc3N3b3Jk\r\nConnection: close',
    );
    expect((await rawExchange(server.port, given)).body).toContain('"success":"ok"');
    const { data } = await control<{ data: { requestHeaders: object }[] }>('/requests');
    expect(data[0]?.requestHeaders).toHaveProperty('proxy-authorization');
    expect(JSON.stringify(data)).not.toContain('c2VjcmV0OnBhc3N3b3Jk');
  });

  it('forwards nothing', async () => {
    const receiver = await startReceiver();
    const { port } = await startSecure(PROXY);
    for (const name of ['127.0.0.1', 'localhost', ALIAS]) {
      const host = `${name}:${receiver.port}`;
      const { status } = await rawExchange(port, getting(`http://${host}/`, host));
      expect(status).toBe(403);
      expect((await tunnel(port, host)).status).toBe(403);
    }
    expect(receiver.requests).toEqual([]);
  });

  const OWN_PATHS = [
    '/_sim',
    '/_sim/status',
    '/_sim/livez',
    '/_sim/readyz',
    '/_sim/ui/settings',
    '/%5Fsim/status',
    '/%5f%73im/readyz',
    '/x/../_sim/status',
    '/./_sim/readyz',
    '/',
  ];
  it('never serves anything but the service', async () => {
    const { port, ca } = await startSecure(PROXY);
    const refused = [403, expect.stringContaining('not served through the proxy')];
    for (const path of OWN_PATHS) {
      const direct = await rawExchange(port, getting(`http://${ALIAS}${path}`, ALIAS));
      expect([path, direct.status, direct.body]).toEqual([path, ...refused]);
      expect(direct.headers['x-gateway-sim']).toBe('1');
      const secure = await inTunnel(port, ALIAS, ca, getting(path, ALIAS));
      expect([path, secure.status, secure.text]).toEqual([path, ...refused]);
    }
  });

  it.each(['127.0.0.1', 'localhost', 'shop.example', `${ALIAS}:8443`, `${ALIAS}:80`])(
    'rejects requests for %s in the tunnel to an alias',
    async (host) => {
      const { port, ca } = await startSecure(PROXY);
      expect((await inTunnel(port, ALIAS, ca, getting('/_sim/status', host))).status).toBe(403);
      expect((await inTunnel(port, ALIAS, ca, posting(INITIATE, host, 'a=b'))).status).toBe(403);
    },
  );

  it('opens no tunnel in a tunnel', async () => {
    const { port, ca } = await startSecure(PROXY);
    const inner = `CONNECT ${ALIAS}:443 HTTP/1.1\r\nHost: ${ALIAS}\r\n\r\n`;
    expect((await inTunnel(port, ALIAS, ca, inner)).status).toBe(403);
  });

  it('is off by default', async () => {
    const { port, ca } = await startSecure({ hostAlias: [ALIAS] });
    expect((await tunnel(port, `${ALIAS}:443`)).status).toBe(405);
    const direct = await secured(await connected(port), ca, ALIAS);
    expect((await exchange(direct, posting(INITIATE, ALIAS, 'a=b'))).text).toContain(
      'public_key is required',
    );
  });
});

describe('a connection without a request', () => {
  const { cert, key, ca } = issue([...LOOPBACK_NAMES, ALIAS], Date.now());

  const ended = (socket: Socket) =>
    new Promise<void>((resolve) => {
      if (socket.destroyed) resolve();
      socket.resume().once('close', () => resolve());
    });

  async function front(requestTimeoutMs = 600_000, credentials: FrontOptions['credentials'] = { cert, key }) {
    const options = { credentials, aliases: [ALIAS], url: () => 'https://x', requestTimeoutMs };
    const made = createFront({ ...options, onUntrusted: () => {}, onRejected: () => {} });
    const load = async () => (_: unknown, outgoing: { end: (text: string) => void }) => outgoing.end('hello');
    const listening = await listen({ host: '127.0.0.1', port: 0 }, load, { front: made });
    onTestFinished(listening.close);
    return { port: listening.port, stop: listening.close };
  }

  it('is closed if it sends nothing, outside or inside a tunnel', async () => {
    const { port } = await front(100);
    const silent = await connected(port);
    const half = await tunnel(port, `${ALIAS}:443`);
    const begun = await connected(port);
    begun.write('\x16\x03\x01');
    await Promise.all([silent, half.socket, begun].map(ended));
  });

  it('is closed if it sends no complete request after its handshake', async () => {
    const { port } = await front(2_000);
    const secure = await secured(await connected(port), ca, 'localhost');
    const slow = await secured(await connected(port), ca, 'localhost');
    slow.write('GET / HTTP/1.1\r\n');
    await Promise.all([secure, slow].map(ended));
  });

  it('is closed by a proxy without TLS, too, unless it has already received a response', async () => {
    const { port } = await front(1_000, null);
    const idle = await connected(port);
    const answered = textUntil(idle, 'hello');
    idle.write(getting('/', 'localhost').replace('Connection: close\r\n', ''));
    await answered;
    await ended(await connected(port));
    expect(idle.destroyed).toBe(false);
  });

  it('does not delay a stop', async () => {
    const { port, stop } = await front();
    const silent = await connected(port);
    const half = await tunnel(port, `${ALIAS}:443`);
    const idle = await secured(await connected(port), ca, 'localhost');
    await Promise.all([stop(), ...[silent, half.socket, idle].map(ended)]);
  });
});

it('uses one port for everything', async () => {
  const { port } = await startReceiver();
  await expect(startSim({ port, tls: true, ...PROXY })).rejects.toMatchObject({ code: 'port_in_use' });
});
