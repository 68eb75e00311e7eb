import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { curlOf, curlOfAll, described, requestText } from '../../src/audit/request-text.ts';
import { Secrets } from '../../src/contract/secrets.ts';
import { Egress } from '../../src/delivery/egress.ts';
import { ExchangeClient, type ExchangeRequest } from '../../src/delivery/exchange.ts';
import { listen } from '../helpers/answering.ts';

const BODY = 'status=success&identifier=a%20b+c';

/** Receives one request. @returns its URL, and its parts when the connection has ended */
async function startRecorder(doesAnswer = true) {
  const parts: string[] = [];
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.on('data', (part) => {
      parts.push(part.toString());
      const text = parts.join('');
      const isWhole = text.endsWith(BODY) || text.endsWith('0\r\n\r\n');
      if (isWhole && doesAnswer) socket.write('HTTP/1.1 204 No Content\r\n\r\n');
    });
    socket.on('close', () => server.emit('received'));
  });
  const port = await listen(server);
  const received = once(server, 'received').then(() => {
    const [head = '', body = ''] = parts.join('').split(/\r\n\r\n(.*)/s);
    return { head, body, writes: parts.length };
  });
  return { url: `http://127.0.0.1:${port}/ipn`, received };
}

const client = () => new ExchangeClient(new Egress([], () => undefined), 10_000);

describe('a body', () => {
  it.each([
    ['whole', BODY, 204],
    ['chunked', `11\r\n${BODY.slice(0, 17)}\r\n10\r\n${BODY.slice(17)}\r\n0\r\n\r\n`, 204],
    ['slow', BODY, 204],
    ['truncated', BODY.slice(0, 17), null],
  ] as const)('is sent %s', async (manner, sent, status) => {
    const { url, received } = await startRecorder();
    const observation = await client().send({ url, body: BODY, manner });
    const { head, body, writes } = await received;
    expect([observation.status, body]).toEqual([status, sent]);
    expect(head).toMatch(
      manner === 'chunked' ? /^Transfer-Encoding: chunked\r?$/m : /^Content-Length: 33\r?$/m,
    );
    if (manner === 'slow') expect(writes).toBeGreaterThan(3);
  });

  it('is sent whole before an early disconnect', async () => {
    const { url, received } = await startRecorder(false);
    const { status } = await client().send({ url, body: BODY, manner: 'disconnected' });
    expect([status, (await received).body]).toEqual([null, BODY]);
  });
});

describe('a request as text', () => {
  const url = 'http://127.0.0.1/ipn';
  const { mask } = new Secrets();
  it.each([
    [{ url }, 'GET http://127.0.0.1/ipn'],
    [{ url, method: 'HEAD' }, 'HEAD http://127.0.0.1/ipn'],
    [{ url, body: BODY }, 'POST http://127.0.0.1/ipn: status=success&identifier=a b c'],
    [{ url, body: '%', manner: 'whole' }, 'POST http://127.0.0.1/ipn: %'],
    [{ url, body: 'a', manner: 'slow' }, 'POST http://127.0.0.1/ipn (slow): a'],
    [{ url, body: Buffer.from('abc') }, 'POST http://127.0.0.1/ipn: 3 bytes'],
    [{ url, body: 'x'.repeat(601) }, `POST http://127.0.0.1/ipn: ${'x'.repeat(599)}…`],
  ] satisfies [ExchangeRequest, string][])('shows what is sent: %j', (request, text) => {
    expect(requestText(request, mask)).toBe(text);
  });

  it('is a curl command if curl can repeat it', () => {
    expect(curlOf({ url })).toBe(`curl '${url}'`);
    const put = curlOf({ url, method: 'PUT', body: 'a=1', headers: [['Origin', 'http://x']] });
    expect(put?.split(' \\\n  ')).toEqual([
      `curl '${url}'`,
      '-X PUT',
      "-H 'Content-Type: application/x-www-form-urlencoded'",
      "-H 'Origin: http://x'",
      "--data-raw 'a=1'",
    ]);
    expect(curlOf({ url, body: 'x'.repeat(20_000) })).toMatch(/^curl /);
    for (const body of ['x'.repeat(20_001), Buffer.from('a')]) expect(curlOf({ url, body })).toBeNull();
    expect(curlOf({ url, body: 'a', manner: 'slow' })).toBeNull();
    expect(curlOfAll([{ url }, { url, body: 'a', manner: 'slow' }])).toBeNull();
    expect(curlOfAll([{ url }, { url }])).toBe(
      `curl --parallel --parallel-immediate '${url}' \\\n  --next '${url}'`,
    );
  });

  it.each([
    [{ status: null, error: 'connection refused' }, 'no response: connection refused'],
    [{ status: null }, 'no response'],
    [{ status: 200, body: ' OK\r\nmore' }, 'answered 200 “OK”'],
    [{ status: 204 }, 'answered 204 with an empty body'],
    [
      { status: 302, headers: [['location', '/login']] as const },
      'answered 302 to /login with an empty body',
    ],
    [{ status: 200, body: 'x'.repeat(121) }, `answered 200 “${'x'.repeat(119)}…”`],
  ])('shows the response: %j', (observation, text) => {
    const nothing = { headers: [], body: '', failure: null, error: null, durationMs: 1 };
    expect(described({ ...nothing, ...observation }, mask)).toBe(text);
  });
});
