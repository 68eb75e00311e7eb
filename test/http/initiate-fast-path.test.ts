import { once } from 'node:events';
import { connect } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { requestListener } from '../../src/http/app.ts';
import { type FastPath, listen } from '../../src/http/listener.ts';
import { initiateFastPath } from '../../src/http/service/initiate.ts';
import type { StartOptions } from '../../src/options/table.ts';
import { dialect } from '../../src/wire/documented/service.ts';
import { character } from '../helpers/characters.ts';
import { rawExchange, requestBytes } from '../helpers/raw.ts';
import { fields } from '../helpers/records.ts';
import { startSim } from '../helpers/sim.ts';

const FORM = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data; boundary=XX';
const PATH = '/sandbox/payment/initiate';

interface Sent {
  method?: string;
  path?: string;
  version?: string;
  headers?: Record<string, string | undefined>;
  type?: string | undefined;
  body?: string;
}

/** Removes ids, times and ports, which differ between emulators. */
const anonymous = (text: string) =>
  text
    .replace(/pay_[a-z0-9]{24}/g, 'pay_')
    .replace(/^Date: .*$/gm, 'Date')
    .replace(/127\.0\.0\.1:\d+/g, 'here')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'now')
    .replace(/"trx":"[A-Z0-9]{12}"/g, '"trx"')
    .replace(/"durationMs":[\d.]+/g, '"durationMs"');

const written = ({ method = 'POST', path = PATH, version, headers, type = FORM, body }: Sent) =>
  requestBytes(method, path, { Host: '127.0.0.1:4477', 'Content-Type': type, ...headers }, body, version);

const form = (changes: Record<string, unknown> = {}) =>
  new URLSearchParams(fields(changes) as Record<string, string>).toString();

const multipart = (changes: Record<string, unknown> = {}) =>
  `${Object.entries(fields(changes))
    .map(([name, value]) => `--XX\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')}--XX--\r\n`;

const PART = '--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n';
const manyFields = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, index) => [`field${index}`, 1])));

/** Starts an emulator with or without the fast path for initiate. */
async function emulator(hasFastPath: boolean, options: StartOptions) {
  const { server, control } = await startSim(options);
  const reported: unknown[] = [];
  const parts = { ...server.parts, report: (error: unknown) => reported.push(error) };
  const accepts = initiateFastPath(parts);
  let accepted = 0;
  const fastPath: FastPath = (incoming, outgoing) => {
    const isAccepted = hasFastPath && accepts(incoming, outgoing);
    if (isAccepted) accepted++;
    return isAccepted;
  };
  const listening = { host: '127.0.0.1', port: 0 };
  const app = requestListener(parts, true);
  const { port, close } = await listen(listening, async () => app, dialect, { fastPath });
  onTestFinished(close);
  return {
    parts,
    reported,
    port,
    accepted: () => accepted,
    log: async () => anonymous(JSON.stringify(await control('/requests?limit=1000'))),
    payments: async () => anonymous(JSON.stringify(await control('/payments?limit=1000'))),
  };
}

/** Starts one emulator with the fast path and one without it. They must respond, log and store the same. */
async function both(options: StartOptions = {}) {
  const keyed = { publicKey: 'pub_pinned', secretKey: 'sec_pinned', ...options };
  const quick = await emulator(true, keyed);
  const full = await emulator(false, keyed);
  return {
    quick,
    full,
    async send(sent: Sent) {
      const before = quick.accepted();
      const bytes = written(sent);
      const [one, other] = [await rawExchange(quick.port, bytes), await rawExchange(full.port, bytes)];
      expect(anonymous(one.text)).toBe(anonymous(other.text));
      return { answer: one, accepted: quick.accepted() > before };
    },
    async compare() {
      expect(await quick.log()).toBe(await full.log());
      expect(await quick.payments()).toBe(await full.payments());
      expect([quick.reported, full.reported, full.accepted()]).toEqual([[], [], 0]);
    },
  };
}

const KEY = { public_key: 'pub_pinned' };

describe('initiate without the app', () => {
  const ACCEPTED: [what: string, sent: Sent][] = [
    ['a form', { body: form(KEY) }],
    ['a form to live mode', { path: '/payment/initiate', body: form(KEY) }],
    ['a form with a charset', { type: `${FORM}; charset=UTF-8`, body: form(KEY) }],
    ['a type in capitals', { type: FORM.toUpperCase(), body: form(KEY) }],
    ['multipart', { type: MULTIPART, body: multipart(KEY) }],
    ['an empty form', {}],
    ['invalid fields', { body: form({ amount: '-1', details: '', ...KEY }) }],
    ['an invalid currency', { body: form({ currency: 'XXX', ...KEY }) }],
    ['an invalid key', { body: form({ public_key: 'nobody' }) }],
    ['the secret key', { body: form({ public_key: 'sec_pinned' }) }],
    ['unknown fields', { body: `${form(KEY)}&merchant=&amout=1` }],
    ['a long body', { body: `${form(KEY)}&long=${'x'.repeat(40_000)}` }],
    ['invalid UTF-8', { body: `${form(KEY)}&details=%ff%` }],
    ['multipart without a boundary', { type: 'multipart/form-data', body: multipart(KEY) }],
    ['truncated multipart', { type: MULTIPART, body: multipart(KEY).slice(0, -9) }],
    ['a form with too many fields', { body: `${form(KEY)}${'&a=1'.repeat(1_000)}` }],
    ['a form of separators only', { body: '&'.repeat(2 ** 20) }],
    ['multipart with too many fields', { type: MULTIPART, body: `${PART.repeat(1_000)}${multipart(KEY)}` }],
    ['a host name', { headers: { Host: 'pay.shop.test' }, body: form(KEY) }],
    ['a foreign page', { headers: { Origin: 'https://evil.example' }, body: form(KEY) }],
    ['a foreign page with an unreadable body', { headers: { Origin: 'null' }, type: MULTIPART, body: 'x' }],
    ['a page on another site', { headers: { 'Sec-Fetch-Site': 'cross-site' }, body: form(KEY) }],
    [
      'unusual headers',
      { headers: { Cookie: 'a=1', 'X-A': 'é', Origin: 'https://shop.test' }, body: form(KEY) },
    ],
  ];
  const OTHERS: typeof ACCEPTED = [
    ['another method', { method: 'PUT', body: form(KEY) }],
    ['a preflight', { method: 'OPTIONS' }],
    ['a query', { path: `${PATH}?a=1`, body: form(KEY) }],
    ['another path', { path: '/payment/initiate/', body: form(KEY) }],
    ['an absolute address', { path: `http://127.0.0.1${PATH}`, body: form(KEY) }],
    ['JSON', { type: 'application/json', body: JSON.stringify(fields(KEY)) }],
    ['another type', { type: 'text/plain', body: 'x' }],
    ['a type with the same beginning', { type: `${FORM}x`, body: form(KEY) }],
    ['no type', { type: undefined, headers: { 'Content-Type': undefined }, body: form(KEY) }],
    ['no host', { headers: { Host: undefined }, body: form(KEY) }],
    ['an invalid host', { headers: { Host: 'a b' }, body: form(KEY) }],
    ['a host with a user', { headers: { Host: 'a@b' }, body: form(KEY) }],
    ['HTTP/1.0', { version: '1.0', body: form(KEY) }],
    ['an expectation', { headers: { Expect: '100-continue' }, body: form(KEY) }],
    ['another expectation', { headers: { Expect: 'more' }, body: form(KEY) }],
    ['another protocol', { headers: { Connection: 'upgrade, close', Upgrade: 'h2c' }, body: form(KEY) }],
    [
      'a body in chunks',
      {
        headers: { 'Content-Length': undefined, 'Transfer-Encoding': 'chunked' },
        body: '3\r\na=1\r\n0\r\n\r\n',
      },
    ],
    ['JSON with too many fields', { type: 'application/json', body: manyFields(1_001) }],
    ['no length', { headers: { 'Content-Length': undefined } }],
    ['a body over the limit', { body: 'x'.repeat(2 ** 20 + 1) }],
  ];
  it.each([
    ['responds like the app', ACCEPTED, true],
    ['passes other requests to the app', OTHERS, false],
  ])('%s', async (_, requests, isAccepted) => {
    const { send, compare } = await both();
    for (const [what, sent] of requests)
      expect([what, (await send(sent)).accepted]).toEqual([what, isAccepted]);
    await compare();
  });

  it('passes everything to the app while a fault rule can act', async () => {
    const { quick, full, send, compare } = await both();
    for (const { parts } of [quick, full]) parts.faults.set({ route: 'cards', status: 500 });
    expect((await send({ body: form(KEY) })).accepted).toBe(false);
    for (const { parts } of [quick, full]) parts.faults.clear();
    expect((await send({ body: form(KEY) })).accepted).toBe(true);
    await compare();
  });

  it('responds to any body like the app', async () => {
    const value = fc.oneof(
      fc.string({ unit: character, maxLength: 24 }),
      fc.constantFrom('', 'USD', 'usd', 'light', '10.00', '1.005', 'a@b.cd', 'sec_pinned', 'http://h/?a=b'),
    );
    const changes = fc.dictionary(fc.constantFrom(...Object.keys(fields()), 'merchant', '__proto__'), value, {
      maxKeys: 4,
    });
    const { quick, send, compare } = await both({ errorStatus: 'http', loose: true });
    await fc.assert(
      fc.asyncProperty(changes, fc.boolean(), fc.boolean(), async (changed, isForm, isLive) => {
        const all = { ...KEY, ...changed };
        const path = isLive ? '/payment/initiate' : PATH;
        await send(isForm ? { path, body: form(all) } : { path, type: MULTIPART, body: multipart(all) });
      }),
      { numRuns: 60 },
    );
    expect(quick.accepted()).toBeGreaterThan(0);
    await compare();
  });

  it('reports an internal error, and reveals no more about it than the app', async () => {
    const { quick, full, send } = await both();
    for (const { parts } of [quick, full]) {
      vi.spyOn(parts.payments, 'initiate').mockRejectedValue(new Error('the details'));
    }
    const { answer, accepted } = await send({ body: form(KEY) });
    expect([answer.status, accepted]).toEqual([500, true]);
    expect([quick.reported, full.reported]).toEqual([[new Error('the details')], [new Error('the details')]]);
    expect(await quick.log()).toBe(await full.log());
  });

  it('reports an internal error in the log, and keeps running', async () => {
    const { quick } = await both();
    const fault = new Error('no room');
    const record = vi.spyOn(quick.parts.events, 'record').mockImplementationOnce(() => {
      throw fault;
    });
    expect((await rawExchange(quick.port, written({ body: form(KEY) }))).text).toBe('');
    expect([quick.reported, record.mock.calls.length]).toEqual([[fault], 1]);
    expect((await rawExchange(quick.port, written({ body: form(KEY) }))).status).toBe(200);
  });

  it('logs an incomplete upload like the app', async () => {
    const { quick, full, compare } = await both();
    for (const { port, log } of [quick, full]) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      const bytes = written({ body: form(KEY) });
      await new Promise((resolve) => socket.write(bytes.subarray(0, -20), resolve));
      socket.destroy();
      await expect.poll(log).toContain('disconnected');
    }
    expect(quick.accepted()).toBe(1);
    await compare();
  });

  it('responds in order to several requests on one connection, however their bytes are split', async () => {
    const { quick, full, compare } = await both();
    const bytes = Buffer.concat([
      written({ headers: { Connection: undefined }, body: form(KEY) }),
      written({ type: MULTIPART, headers: { Connection: undefined }, body: multipart({ amount: 'x' }) }),
      written({ body: form({ currency: 'XXX' }) }),
    ]);
    const answers: string[] = [];
    for (const { port } of [quick, full]) {
      const socket = connect(port, '127.0.0.1');
      socket.setNoDelay(true);
      await once(socket, 'connect');
      let text = '';
      socket.on('data', (chunk) => {
        text += chunk;
      });
      for (let at = 0; at < bytes.length; at += 200) {
        await new Promise((resolve) => socket.write(bytes.subarray(at, at + 200), resolve));
      }
      await once(socket, 'close');
      answers.push(anonymous(text));
    }
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]?.match(/HTTP\/1\.1 200/g)).toHaveLength(3);
    expect(quick.accepted()).toBe(3);
    await compare();
  });
});
