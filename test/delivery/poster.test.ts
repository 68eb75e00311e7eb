import { execFile, spawnSync } from 'node:child_process';
import { syncBuiltinESMExports } from 'node:module';
import { createServer, createServer as createTcpServer, type LookupFunction, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import tls from 'node:tls';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { describeFailure, errorOf } from '../../src/contract/describe-delivery.ts';
import { Egress, EgressError } from '../../src/delivery/egress.ts';
import { Poster, type PostRequest, type ReceiverTrust } from '../../src/delivery/poster.ts';
import { failureOf, failureOfStatus } from '../../src/delivery/sender.ts';
import { readCertificates } from '../../src/tls/identity.ts';
import { BROKEN, listen, startAnswering } from '../helpers/answering.ts';
import { LOOPBACK_NAMES, writePair } from '../helpers/certificates.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type Answer, startReceiver } from '../helpers/receiver.ts';
import { startSecureReceiver } from '../helpers/secure-receiver.ts';
import { paid, startSim } from '../helpers/sim.ts';

// So that time can be faked.
vi.mock('../../src/system/real-time.ts', () => import('../helpers/replaceable-time.ts'));

/** A poster whose reports also describe the error. */
function poster(egress = new Egress([], () => undefined)) {
  const made = new Poster(egress, {});
  onTestFinished(() => made.close());
  return {
    async post(request: PostRequest) {
      const report = await made.post(request);
      return { ...report, error: errorOf(report) };
    },
  };
}

function request(url: string, changes: Partial<PostRequest> = {}): PostRequest {
  const body = changes.body ?? 'status=success&data%5Bamount%5D=100.00';
  return {
    url,
    body,
    headers: [
      ['Content-Type', 'application/x-www-form-urlencoded'],
      ['Content-Length', String(Buffer.byteLength(body))],
      ['X-Gateway-Sim', '1'],
    ],
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...changes,
  };
}

/** A server that answers every connection with these bytes, regardless of the request. */
async function rawReceiver(bytes: string, then: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.write(bytes, () => then(socket)));
  });
  return `http://127.0.0.1:${await listen(server)}/`;
}

const described = (error: unknown, url: string, trustBy?: string) =>
  describeFailure(failureOf(error, url), { url }, trustBy);

describe('a post', () => {
  it('sends exactly the given bytes and headers to the given address', async () => {
    const receiver = await startReceiver();
    const body = 'status=success&name=Zoë';
    await poster().post(request(`${receiver.url}/ipn/a%2Fb?order=1&x=%7e`, { body }));
    const [got] = receiver.requests;
    expect(got).toMatchObject({ method: 'POST', url: '/ipn/a%2Fb?order=1&x=%7e', body });
    expect(got?.headers).toMatchObject({
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(Buffer.byteLength(body)),
      'x-gateway-sim': '1',
      host: `127.0.0.1:${receiver.port}`,
    });
    expect(got?.headers['transfer-encoding']).toBeUndefined();
  });

  it('reports the request and the response as they were on the wire', async () => {
    const receiver = await startReceiver([{ status: 202, headers: { 'X-Twice': 'a' }, body: 'Merci ✓' }]);
    const sent = request(`${receiver.url}/ipn`);
    const report = await poster().post(sent);
    expect(report).toMatchObject({
      url: `${receiver.url}/ipn`,
      requestHeaders: sent.headers,
      requestBody: sent.body,
      responseStatus: 202,
      responseBody: 'Merci ✓',
      error: null,
    });
    expect(report.responseHeaders).toContainEqual(['X-Twice', 'a']);
    expect(report.durationMs).toBeGreaterThanOrEqual(0);
  });

  it.each([302, 307])('does not follow a redirect with status %i', async (status) => {
    const elsewhere = await startReceiver();
    const receiver = await startReceiver([{ status, headers: { Location: `${elsewhere.url}/moved` } }]);
    const report = await poster().post(request(receiver.url));
    expect(report.responseStatus).toBe(status);
    expect(report.error).toBe(`the receiver returned ${status} to ${elsewhere.url}/moved`);
    expect(elsewhere.requests).toEqual([]);
  });

  it.each([
    [64 * 1024, 64 * 1024],
    [64 * 1024 + 1, 64 * 1024],
    [3 * 1024 * 1024, 64 * 1024],
  ])('with a response of %i bytes stores %i of them', async (sent, kept) => {
    const receiver = await startReceiver([{ body: 'x'.repeat(sent) }]);
    const report = await poster().post(request(receiver.url));
    expect(report.error).toBeNull();
    expect(report.responseBody).toBe('x'.repeat(kept));
  });

  it('does not decode a response', async () => {
    const url = await startAnswering((_, response) => BROKEN.encodes(response));
    const { responseBody } = await poster().post(request(url));
    expect(responseBody).not.toContain('paid');
  });

  it('uses a connection of its own, as curl does, so that one attempt is one POST', async () => {
    const receiver = await startReceiver((_, number) => (number === 2 ? 'drop' : {}));
    const sender = poster();
    for (let count = 0; count < 3; count++) await sender.post(request(receiver.url));
    expect(new Set(receiver.requests.map(({ from }) => from)).size).toBe(3);
  });
});

/** Responses that curl 7.88 reads, and what is malformed in them. */
const MALFORMED: [response: string, status: number, code: string, body?: string][] = [
  [
    'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n',
    200,
    'both_lengths',
    '2\r\nok\r\n0\r\n\r\n',
  ],
  ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok', 200, 'repeated_length'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nok', 200, 'too_long'],
  ['HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok', 200, 'incomplete'],
  ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok', 200, 'incomplete', '5\r\nok'],
  ['HTTP/1.1 304 Not Modified\r\n\r\n', 304, 'not_modified', ''],
  ['HTTP/1.1 200 OK\nContent-Length: 2\n\nok', 200, 'invalid'],
  ['HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok', 200, 'invalid'],
  ['HTTP/1.1 200OK\r\nContent-Length: 2\r\n\r\nok', 200, 'invalid'],
  ['HTTP/1.1 200 OK\r\nX-A: one\r\n two\r\nContent-Length: 2\r\n\r\nok', 200, 'invalid'],
];

describe('a malformed response', () => {
  it.each(MALFORMED)(
    'that curl reads counts as received: %j',
    async (response, status, code, body = 'ok') => {
      const url = await rawReceiver(response, (socket) => socket.end());
      expect(await poster().post(request(url))).toMatchObject({
        responseStatus: status,
        responseBody: body,
        failure: null,
        flaw: { code },
      });
    },
  );

  it('keeps its status if that is an error', async () => {
    const url = await rawReceiver('HTTP/1.1 500 Oops\nX: 1\n\nno', (socket) => socket.end());
    expect(await poster().post(request(url))).toMatchObject({
      responseStatus: 500,
      responseHeaders: [['X', '1']],
      failure: { code: 'answered' },
      flaw: { code: 'invalid' },
    });
  });

  it.each([
    'HTTP/1.2 200 OK\r\n\r\n',
    'ICY 200 OK\r\n\r\nok',
    'ok',
    'HTTP/1.1 20',
    'HTTP/1.1 100 Continue\r\n\r\n',
  ])('that curl does not read is no response: %j', async (response) => {
    const url = await rawReceiver(response, (socket) => socket.end());
    expect(await poster().post(request(url))).toMatchObject({ responseStatus: null, failure: {} });
  });
});

describe('the report of a post without a response describes the error', () => {
  it.each<[string, Answer]>([
    ['respond', 'hang'],
    ['complete its response', { body: 'begun', unfinished: true }],
  ])('when the receiver does not %s in time, and closes the connection', async (_, answer) => {
    const receiver = await startReceiver([answer]);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const posted = poster().post(request(receiver.url));
    const arrived = await receiver.request(1);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await posted).toMatchObject({
      responseStatus: null,
      responseBody: null,
      error: 'timed out after 60 s',
    });
    await arrived.closed;
  });

  it.each([
    ['half a status line', 'HTTP/1.', ''],
    ['headers', 'HTTP/1.1 200 OK\r\n', 'X: y\r\n'],
    ['a body', 'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n', 'x'],
    ['an endless body', 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(100_000)],
    ['interim responses', '', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ])('when %s arrives until the time is over', async (_, begun, drop) => {
    const url = await rawReceiver(begun, (socket) => {
      const drops = setInterval(() => socket.write(drop), 20);
      socket.on('close', () => clearInterval(drops));
    });
    const { error, responseStatus } = await poster().post(request(url, { timeoutMs: 200 }));
    const expected = 'timed out after 0.2 s';
    expect([responseStatus, error]).toEqual([null, expected]);
  });

  it('when the receiver drops the connection', async () => {
    const receiver = await startReceiver(['drop']);
    const report = await poster().post(request(receiver.url));
    expect(report.error).toBe(`127.0.0.1:${receiver.port} closed the connection without a response`);
  });

  it.each(['127.0.0.1', 'localhost'])('when no server listens at any address of %s', async (host) => {
    const receiver = await startReceiver();
    await receiver.close();
    const url = receiver.url.replace('127.0.0.1', host);
    const report = await poster().post(request(url));
    expect(report.error).toBe(`connection refused: nothing is listening on ${new URL(url).host}`);
  });

  it('when the receiver speaks HTTP/2 only', async () => {
    const url = await rawReceiver('\0\0\x06\x04\0\0\0\0\0\0\x03\0\0\0\x64', () => {});
    const report = await poster().post(request(url));
    // With TLS, curl would speak HTTP/2.
    expect(report.error).toMatch(/accepts only HTTP\/2, and without TLS the gateway speaks HTTP\/1\.1$/);
  });

  it('when the response is not HTTP', async () => {
    const url = await rawReceiver('SSH-2.0-OpenSSH_9.6\r\n', () => {});
    const report = await poster().post(request(url));
    expect(report.error).toMatch(/Parse Error/);
  });

  it('when the receiver switches protocols, which would keep the response open forever', async () => {
    const url = await rawReceiver(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n',
      () => {},
    );
    expect(await poster().post(request(url))).toMatchObject({
      responseStatus: 101,
      error: 'the receiver returned 101',
    });
  });

  it('when an https request goes to a plain http receiver', async () => {
    const receiver = await startReceiver();
    const report = await poster().post(request(receiver.url.replace('http:', 'https:')));
    expect(report).toMatchObject({
      error: `127.0.0.1:${receiver.port} uses plain http: use an address that begins with http://`,
      responseStatus: null,
    });
  });

  it('when a plain http request goes to a receiver that responds with a TLS alert', async () => {
    const url = await rawReceiver('\u0015\u0003\u0003\u0000\u0002\u0002\u0046', () => {});
    const report = await poster().post(request(url));
    expect(report.error).toBe(`${new URL(url).host} expects https: use an address that begins with https://`);
  });

  it.each([
    // The messages of Node 20, 22 and 24 for the same mistake.
    [
      'EPROTO',
      'write EPROTO 80:error:0A00010B:SSL routines:ssl3_get_record:wrong version number:../x.c:350:',
    ],
    [
      'ERR_SSL_WRONG_VERSION_NUMBER',
      '80:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../x.c:80:',
    ],
    [
      'ERR_SSL_PACKET_LENGTH_TOO_LONG',
      '80:error:0A0000C6:SSL routines:tls_get_more_records:packet length too long:../x.c:662:',
    ],
  ])('when OpenSSL reports it as %s', (code, message) => {
    const error = Object.assign(new Error(message), { code });
    expect(described(error, 'https://localhost:3000/ipn')).toBe(
      'localhost:3000 uses plain http: use an address that begins with http://',
    );
  });

  it('when TLS fails for another reason, without the name and line of a C file', () => {
    const message =
      '80:error:0A00042E:SSL routines:ssl3_read_bytes:tlsv1 alert protocol version:../x.c:1590:SSL alert number 70';
    const error = Object.assign(new Error(message), { code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
    expect(described(error, 'https://localhost/ipn')).toBe(
      'no secure connection to localhost: tlsv1 alert protocol version',
    );
  });

  it.each([
    ['ENOTFOUND', 'the name shop.example cannot be resolved'],
    ['EHOSTUNREACH', 'no route to shop.example:3000'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'the certificate of shop.example:3000 is not trusted: name its CA'],
  ])('when the system reports %s', (code, text) => {
    const error = Object.assign(new Error('x'), { code });
    expect(described(error, 'http://shop.example:3000/ipn', 'name its CA')).toBe(text);
  });

  it('when the emulator stops', async () => {
    const receiver = await startReceiver(['hang']);
    const stopping = new AbortController();
    const answer = poster().post(request(receiver.url, { signal: stopping.signal }));
    await receiver.request(1);
    stopping.abort();
    expect((await answer).error).toBe('the emulator is stopping');
  });
});

describe('a response without a length', () => {
  it('is complete when the connection ends', async () => {
    const url = await rawReceiver('HTTP/1.0 200 OK\r\n\r\nOK, all of it', (socket) => socket.end());
    expect(await poster().post(request(url))).toMatchObject({
      responseStatus: 200,
      responseBody: 'OK, all of it',
      error: null,
    });
  });
});

describe('the egress guard', () => {
  it.each(['127.0.0.1', 'localhost'])('rejects %s before anything is sent', async (host) => {
    const receiver = await startReceiver();
    const egress = new Egress([], () => receiver.port);
    const report = await poster(egress).post(request(receiver.url.replace('127.0.0.1', host)));
    expect(report).toMatchObject({ responseStatus: null, failure: { code: 'egress' } });
    expect(report.error).toMatch(
      /^(127\.0\.0\.1|localhost \((127\.0\.0\.1|::1)\)) port \d+ is the emulator itself/,
    );
    expect(receiver.requests).toEqual([]);
  });

  it('rejects its own address under a name below localhost', async () => {
    const receiver = await startReceiver();
    const egress = new Egress([], () => receiver.port);
    const report = await poster(egress).post(request(receiver.url.replace('127.0.0.1', 'shop.localhost')));
    expect(report.error).toMatch(/^shop\.localhost \(127\.0\.0\.1\) port \d+ is the emulator itself/);
  });
});

it('reaches any name below localhost without a resolver', async () => {
  const receiver = await startReceiver();
  const report = await poster().post(request(receiver.url.replace('127.0.0.1', 'a.shop.localhost')));
  expect(report).toMatchObject({ responseStatus: 200, error: null });
});

it.each([
  [199, 'the receiver returned'],
  [200, null],
  [299, null],
  [300, 'the receiver returned'],
  [304, null],
  [399, 'the receiver returned'],
  [400, 'the receiver returned'],
])('response status %s has the problem: %s', (status, problem) => {
  const failure = failureOfStatus(status);
  const described = failure && describeFailure(failure, { url: 'http://shop/', responseStatus: status });
  expect(described).toEqual(problem === null ? null : expect.stringContaining(problem));
});

/** A receiver with a certificate for these names, and its CA certificate. */
async function receiving(names: readonly string[] = LOOPBACK_NAMES, host?: string) {
  const pair = await writePair(await temporaryFolder(), 'receiver', names);
  const receiver = await startSecureReceiver(pair, host);
  return { ...receiver, caFile: pair.ca, ca: await readCertificates(pair.ca, 'ipnCa') };
}

async function post(url: string, trust: ReceiverTrust, egress = new Egress([], () => undefined)) {
  const name = new URL(url).hostname;
  const poster = new Poster(egress, trust);
  onTestFinished(() => poster.close());
  const { signal } = new AbortController();
  const report = await poster.post({ url, name, headers: [], body: '', timeoutMs: 60_000, signal });
  return { status: report.responseStatus, error: errorOf(report), failure: report.failure };
}

/** Resolves all names to this machine, as if it had a public address. */
class PublicNames extends Egress {
  constructor() {
    super([], () => undefined);
  }

  override lookup(_port: number, { localOnly = false } = {}): LookupFunction {
    return (_name, _options, callback) =>
      localOnly
        ? callback(
            new EgressError({ code: 'egress', reason: 'public', host: 'x', address: null, port: 443 }),
            '',
          )
        : callback(null, [{ address: '127.0.0.1', family: 4 }]);
  }
}

const HAS_IPV6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

const ARRIVED = { status: 200, error: null, failure: null };

describe('a receiver with a certificate from an unknown CA', () => {
  it('is not trusted, and the error names the option that trusts it', async () => {
    const { port } = await receiving();
    expect(await post(`https://127.0.0.1:${port}/`, {})).toMatchObject({
      status: null,
      error: expect.stringContaining('is not trusted: set NODE_EXTRA_CA_CERTS, or ipnCa'),
    });
  });

  it('is trusted with ipnCa, for the names in its certificate', async () => {
    const { port, ca } = await receiving(['localhost']);
    expect(await post(`https://localhost:${port}/`, { ca })).toEqual(ARRIVED);
    expect((await post(`https://127.0.0.1:${port}/`, { ca })).error).toContain('altnames');
    const other = await receiving();
    expect((await post(`https://127.0.0.1:${other.port}/`, { ca })).error).toContain('is not trusted');
  });

  it.runIf(HAS_IPV6)('gets no server name for an IP address such as [::1]', async () => {
    const { port, ca, requests } = await receiving(LOOPBACK_NAMES, '::1');
    expect(await post(`https://[::1]:${port}/`, { ca })).toEqual(ARRIVED);
    expect(requests).toMatchObject([{ servername: false }]);
  });

  it('can also be trusted through Node’s root certificates with ipnCa', async () => {
    const made = vi.spyOn(tls, 'createSecureContext');
    syncBuiltinESMExports();
    onTestFinished(() => {
      made.mockRestore();
      syncBuiltinESMExports();
    });
    const { port, ca } = await receiving();
    await post(`https://127.0.0.1:${port}/`, { ca });
    // No test receiver can have a certificate from a real CA.
    expect(made.mock.calls.map(([options]) => options?.ca)).toContainEqual(
      expect.arrayContaining([...tls.rootCertificates, ca]),
    );
  });

  it('can also be trusted through NODE_EXTRA_CA_CERTS with ipnCa, if that file is readable', async () => {
    const [{ ca }, extra] = [await receiving(), await receiving()];
    const url = `https://127.0.0.1:${extra.port}/`;
    vi.stubEnv('NODE_EXTRA_CA_CERTS', extra.caFile);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await post(url, { ca })).toEqual(ARRIVED);
    vi.stubEnv('NODE_EXTRA_CA_CERTS', `${extra.caFile}.none`);
    expect((await post(url, { ca })).error).toContain('is not trusted');
  });
});

describe('--ipn-insecure', () => {
  it.each(['127.0.0.1', 'localhost'])('accepts any certificate at %s', async (host) => {
    const { port, requests } = await receiving(['elsewhere.example']);
    expect(await post(`https://${host}:${port}/`, { insecure: true })).toEqual(ARRIVED);
    expect(requests).toHaveLength(1);
  });

  it('checks certificates of an allowed address that is not local', async () => {
    const { port } = await receiving(['elsewhere.example']);
    // The unspecified address reaches this machine but is not a loopback address.
    const egress = new Egress(['0.0.0.0'], () => undefined);
    const { error } = await post(`https://0.0.0.0:${port}/`, { insecure: true }, egress);
    expect(error).toContain('is not trusted');
  });

  it('checks certificates of a name that resolves to a public address', async () => {
    const { port } = await receiving(['elsewhere.example']);
    const { error } = await post(`https://localhost:${port}/`, { insecure: true }, new PublicNames());
    expect(error).toContain('is not trusted');
  });

  it('makes one attempt if a local receiver does not respond', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    const { error } = await post(`https://127.0.0.1:${await listen(server)}/`, { insecure: true });
    expect(error).not.toBeNull();
    expect(connections).toBe(1);
  });

  it('allows no additional addresses', async () => {
    const rejected = await post('https://203.0.113.7/', { insecure: true });
    expect(rejected).toMatchObject({ status: null, failure: { code: 'egress' } });
  });
});

const HAS_CURL = spawnSync('curl', ['--version']).status === 0;

/** The headers of a request in their order, without those that only an emulator sends. */
const headersOf = (rawHeaders: readonly string[]) =>
  rawHeaders
    .flatMap((name, index) => (index % 2 ? [] : [[name, rawHeaders[index + 1]]]))
    .filter(([name = '']) => !/^(X-Gateway-Sim|User-Agent)/i.test(name));

it.skipIf(!HAS_CURL).each([
  ['credentials', 'shop:p%40ss%20word@', '/ipn?order=1&x=%7e'],
  ['credentials that are not UTF-8', 'us:caf%E9@', '/ipn'],
  ['credentials with a lone percent sign', 'us:100%@', '/ipn'],
  ['quotation marks and braces', '', "/ipn?q='x'&r={1}"],
  ['an encoded dot segment', '', '/a/%2e%2e/b'],
  ['dot segments', '', '/a/../b/./c'],
  ['an empty path', '', '?q=1'],
])(
  `an IPN has the headers and the bytes of curl: %s${HAS_CURL ? '' : ' (curl is missing here)'}`,
  async (_, credentials, target) => {
    const sim = await startSim();
    const receiver = await startReceiver();
    const ipnUrl = receiver.url.replace('//', `//${credentials}`) + target;
    const { payment } = await paid(sim, { ipn_url: ipnUrl, customer_name: 'A*' });
    expect(payment.ipnUrl).toBe(ipnUrl);
    const ipn = await receiver.request(1);
    await promisify(execFile)('curl', ['--silent', '--globoff', '--data-raw', ipn.body, ipnUrl]);
    const curl = await receiver.request(2);
    expect([ipn.method, ipn.url, ipn.body]).toEqual([curl.method, curl.url, curl.body]);
    expect(headersOf(ipn.rawHeaders)).toEqual(headersOf(curl.rawHeaders));
    // As PHP encodes it.
    expect(ipn.body).toContain('=A%2A&');
  },
);
