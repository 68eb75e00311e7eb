import { describe, expect, it } from 'vitest';
import type { StartOptions } from '../../../src/options/start-options.ts';
import { rawExchange, requestBytes } from '../../helpers/raw.ts';
import { fields } from '../../helpers/records.ts';
import { ORDER, type Sim, startSim } from '../../helpers/sim.ts';

/*
 * fixtures/fidelity/manifest.jsonl has the rules for fields and responses; conform.test.ts checks the emulator
 * against it. These tests check what one request and its response cannot show.
 */

const ENCODINGS = ['form', 'multipart', 'json'] as const;

function encoded(values: Record<string, unknown>, encoding: (typeof ENCODINGS)[number]): RequestInit {
  if (encoding === 'json') {
    return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(values) };
  }
  const body = encoding === 'form' ? new URLSearchParams() : new FormData();
  for (const [name, value] of Object.entries(values)) body.append(name, String(value));
  return { body };
}

/** Values that a parser may corrupt. A euro sign is one character and three bytes. */
const ODD = {
  identifier: ' 😀/€?#%20 ',
  details: '<script>alert(1)</script>\n"\'',
  amount: '007',
  success_url: 'http://localhost/é/日本?q=%zz',
  cancel_url: 'HTTP://localhost?paid=1',
  customer_name: '😀'.repeat(30),
};

describe('initiate', () => {
  it.each(ENCODINGS)(
    'stores values as received from a %s body, without white space around them',
    async (encoding) => {
      const { url, publicKey, control } = await startSim();
      const request = encoded(fields({ public_key: publicKey, ...ODD }), encoding);
      const answer = await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', ...request });
      expect(await answer.json()).toMatchObject({ success: 'ok' });
      const { data } = await control<{ data: object[] }>('/payments');
      expect(data).toMatchObject([
        {
          identifier: ODD.identifier.trim(),
          // In multipart bodies, browsers write line breaks as CR LF.
          details: encoding === 'multipart' ? ODD.details.replace(/\n/g, '\r\n') : ODD.details,
          amount: ODD.amount,
          successUrl: ODD.success_url,
          cancelUrl: ODD.cancel_url,
          customerName: ODD.customer_name,
        },
      ]);
    },
  );

  it.each([
    ['http://127.0.0.1:3000/paid', 'http://localhost:'],
    ['http://localhost:3000/paid', undefined],
    ['https://127.0.0.1:3000/paid', undefined],
    ['http://shop.localhost:3000/paid', undefined],
  ])('says once that the checkout and a shop at %s are one site', async (success_url, otherName) => {
    const sim = await startSim();
    const notices: string[] = [];
    await sim.server.onEvent((event) => event.type === 'notice' && notices.push(event.text));
    // The default pages of the emulator are no shop.
    await sim.initiate({ ...ORDER, success_url: `${sim.url}/_sim/ui/paid` });
    for (const identifier of ['one', 'two']) await sim.initiate({ ...ORDER, identifier, success_url });
    expect(notices).toEqual(
      otherName === undefined
        ? []
        : [
            `the shop and the checkout are both on 127.0.0.1, so a cookie with SameSite=Strict survives the return from the checkout. In production it does not: start with --public-url ${otherName}${sim.server.port}`,
          ],
    );
  });

  it('names the fix first in the log, then the option', async () => {
    const { url, publicKey, control } = await startSim();
    const body = encoded(fields({ public_key: publicKey, identifier: 'x'.repeat(24) }), 'form').body ?? '';
    await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', body });
    const { data } = await control<{ data: { notes: string[] }[] }>('/requests');
    expect(data[0]?.notes).toEqual([
      expect.stringMatching(/^identifier must/),
      expect.stringMatching(/ start with --loose to accept this request$/),
    ]);
  });
});

const FORM = 'application/x-www-form-urlencoded';
const PATHS = { live: '/payment/initiate', sandbox: '/sandbox/payment/initiate' } as const;

interface Refusal {
  error?: string;
  message?: string;
  errors?: string[];
  url?: string;
}

/** Initiates with headers that fetch forbids. */
async function initiate(
  sim: Sim,
  headers: Record<string, string>,
  { path = PATHS.sandbox as string, changes = {}, method = 'POST' } = {},
) {
  const all = { ...fields({ public_key: sim.publicKey, ...changes }) } as Record<string, string>;
  const form = new URLSearchParams(all).toString();
  const target = method === 'GET' ? `${path}?${form}` : path;
  const body = method === 'GET' ? '' : form;
  const type = body ? FORM : undefined;
  const bytes = requestBytes(method, target, { 'Content-Type': type, ...headers }, body);
  const { status, text } = await rawExchange(sim.server.port, bytes);
  const [head = '', answer = ''] = text.split('\r\n\r\n');
  return { status, head, answer: JSON.parse(answer) as Refusal };
}

const paymentsOf = async (sim: Sim) => (await sim.control<{ data: unknown[] }>('/payments')).data;

const OPTIONS: StartOptions = {
  hostAlias: ['pay.shop.example'],
  publicUrl: 'https://tunnel.example:8443/here',
  allowOrigin: ['https://Mine.example/', 'http://other.example:8080'],
};

describe('a page may initiate from the browser', () => {
  const OWN = `
    http://localhost:3000 http://LOCALHOST https://a.b.localhost http://127.0.0.1:5173
    http://127.255.0.9 http://[::1]:8080 http://0.0.0.0:3000 capacitor://localhost http://10.0.0.1
    http://172.16.0.1 http://172.31.255.255:99 http://192.168.178.20
    http://[fd12:3456::1] http://[fc00::1] http://shop https://shop:8443
    https://shop.test http://a.b.test:81 http://mac.local http://localhost.
    https://pay.shop.example http://pay.shop.example:81 https://tunnel.example:8443
    https://mine.example http://other.example:8080
  `
    .trim()
    .split(/\s+/);
  const FOREIGN = `
    https://evil.example http://evil.example:3000 http://8.8.8.8 http://172.15.0.1 http://172.32.0.1
    http://11.0.0.1 http://128.0.0.1 http://192.169.0.1 http://[2001:db8::1] http://[fe00::1]
    http://localhost.evil.example http://127.0.0.1.evil.example http://10.0.0.1.nip.io
    http://evil-localhost.example http://test.example http://evil.testx http://fd00.example
    http://tunnel.example:8443 https://tunnel.example https://x.pay.shop.example http://mine.example
    https://mine.example:81 https://x.mine.example http://other.example chrome-extension://abcdefgh
    file://
  `
    .trim()
    .split(/\s+/);

  it('from this machine, a local network or an origin in the options', async () => {
    const sim = await startSim(OPTIONS);
    for (const Origin of OWN) {
      const headers = { Origin, 'Sec-Fetch-Site': 'cross-site' };
      const { status, head, answer } = await initiate(sim, headers);
      expect([Origin, status, answer]).toMatchObject([Origin, 200, { success: 'ok' }]);
      expect(head).toMatch(/^access-control-allow-origin: \*\r?$/im);
    }
  });

  it('but not from any other origin', async () => {
    const sim = await startSim(OPTIONS);
    for (const Origin of FOREIGN) {
      const { status, head, answer } = await initiate(sim, { Origin });
      const named =
        Origin === 'file://' ? '--allow-origin <origin>' : `--allow-origin ${Origin}`.replace(/\[|\]/g, '');
      const { message = '' } = answer;
      expect([Origin, status, answer]).toEqual([Origin, 200, { error: 'true', message, errors: [message] }]);
      expect(message.replace(/['[\]]/g, '')).toContain(named);
      expect(head).toMatch(/^access-control-allow-origin: \*\r?$/im);
    }
    expect(await paymentsOf(sim)).toEqual([]);
  });

  it.each([
    ['with an opaque origin', { Origin: 'null' }, '--allow-origin null'],
    ['of another site without an Origin', { 'Sec-Fetch-Site': 'cross-site' }, '--allow-origin <origin>'],
    ['with an empty Origin', { Origin: '' }, 'invalid Origin ""'],
    ['with two origins', { Origin: 'http://localhost, http://evil.example' }, 'invalid Origin'],
    [
      'with shell syntax in its host',
      { Origin: 'http://a$(id).example' },
      "start with --allow-origin 'http://a$(id).example'",
    ],
  ])('but not %s', async (_, headers, said) => {
    const sim = await startSim();
    for (const mode of ['live', 'sandbox'] as const) {
      const { answer } = await initiate(sim, headers as Record<string, string>, { path: PATHS[mode] });
      expect(answer).toMatchObject({ error: 'true', message: expect.stringContaining(said) });
    }
    expect(await paymentsOf(sim)).toEqual([]);
  });

  it('with an opaque origin if --allow-origin null is set, but never from another site without an Origin', async () => {
    const sim = await startSim({ allowOrigin: ['null'] });
    expect((await initiate(sim, { Origin: 'null' })).answer).toMatchObject({ success: 'ok' });
    expect((await initiate(sim, { 'Sec-Fetch-Site': 'cross-site' })).answer.error).toBe('true');
    for (const site of ['same-origin', 'same-site', 'none']) {
      expect((await initiate(sim, { 'Sec-Fetch-Site': site })).answer).toMatchObject({ success: 'ok' });
    }
  });
});

describe('a page that may not initiate', () => {
  const FOREIGN = { Origin: 'https://evil.example' };

  it('is rejected before its fields, currency, key and body are checked', async () => {
    const sim = await startSim();
    for (const changes of [{ amount: 'x' }, { currency: 'XXX' }, { public_key: 'nobody' }]) {
      const { answer } = await initiate(sim, FOREIGN, { changes });
      expect(answer.errors).toEqual([expect.stringContaining('--allow-origin https://evil.example')]);
    }
    for (const type of ['text/plain', 'application/json', 'multipart/form-data']) {
      const bytes = requestBytes('POST', PATHS.live, { ...FOREIGN, 'Content-Type': type }, '{');
      const { status, text } = await rawExchange(sim.server.port, bytes);
      expect([status, text]).toEqual([200, expect.stringContaining('--allow-origin https://evil.example')]);
    }
  });

  it('gets 403 with --error-status http', async () => {
    const sim = await startSim({ errorStatus: 'http' });
    expect((await initiate(sim, FOREIGN)).status).toBe(403);
  });

  it('cannot initiate by GET or with an image either, if the profile accepts GET', async () => {
    const sim = await startSim({ profile: 'server' });
    for (const headers of [FOREIGN, { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Dest': 'image' }]) {
      const { status, answer } = await initiate(sim, headers as Record<string, string>, { method: 'GET' });
      expect([status, answer]).toEqual([
        200,
        { error: 'true', message: expect.stringContaining('--allow-origin') },
      ]);
    }
    expect((await initiate(sim, {}, { method: 'GET' })).answer).toMatchObject({ success: 'ok' });
    expect(await paymentsOf(sim)).toHaveLength(1);
  });

  it('is rejected at a public URL even if it is on the same site', async () => {
    const sim = await startSim({ profile: 'server', publicUrl: 'https://pay.dev.example.com' });
    const headers = { Host: 'pay.dev.example.com', 'Sec-Fetch-Site': 'same-site' };
    expect((await initiate(sim, headers, { method: 'GET' })).answer.error).toBe('true');
    expect(await paymentsOf(sim)).toEqual([]);
  });

  it('is in the request log with its body and the reason', async () => {
    const sim = await startSim();
    await initiate(sim, FOREIGN);
    const { data } = await sim.control<{ data: object[] }>('/requests');
    expect(data).toMatchObject([
      {
        status: 200,
        paymentId: null,
        requestBody: expect.stringContaining('identifier='),
        notes: [expect.stringContaining('--allow-origin https://evil.example')],
      },
    ]);
  });
});

describe('--allow-origin', () => {
  it.each(['shop.example', 'https://shop.example/pay', '*'])('rejects %s', async (origin) => {
    await expect(startSim({ allowOrigin: [origin] })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(
        /^--allow-origin must be an origin such as https:\/\/shop\.example, without/,
      ),
    });
  });
});
