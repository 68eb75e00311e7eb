import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { StartOptions } from '../../src/options/table.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { fields } from '../helpers/records.ts';
import { type Sim, startSim } from '../helpers/sim.ts';

const PATHS = { live: '/payment/initiate', sandbox: '/sandbox/payment/initiate' } as const;
const ENCODINGS = ['form', 'multipart', 'json'] as const;
type Encoding = (typeof ENCODINGS)[number];

interface Answer {
  success?: string;
  error?: string;
  message: string;
  errors?: string[];
  url?: string;
}

function encoded(values: Record<string, unknown>, encoding: Encoding): RequestInit {
  if (encoding === 'json') {
    return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(values) };
  }
  const body = encoding === 'form' ? new URLSearchParams() : new FormData();
  for (const [name, value] of Object.entries(values)) body.append(name, String(value));
  return { body };
}

async function post(
  sim: Sim,
  values: Record<string, unknown>,
  { encoding = 'form', mode = 'sandbox' }: { encoding?: Encoding; mode?: 'live' | 'sandbox' } = {},
): Promise<{ status: number; headers: Headers; answer: Answer }> {
  const all = { ...values };
  if (all['public_key'] === '$PUBLIC_KEY') all['public_key'] = sim.publicKey;
  const response = await fetch(sim.url + PATHS[mode], { method: 'POST', ...encoded(all, encoding) });
  return { status: response.status, headers: response.headers, answer: (await response.json()) as Answer };
}

const valid = (changes: Record<string, unknown> = {}) => fields({ public_key: '$PUBLIC_KEY', ...changes });

const LONGEST_URL = `http://localhost/${'a'.repeat(2_048 - 'http://localhost/'.length)}`;

/** What each field may be, at the edges of its limits. A euro sign is one character and three bytes. */
const ACCEPTED: [field: string, value: string][] = [
  ['identifier', 'x'.repeat(20)],
  ['identifier', '€'.repeat(20)],
  ['identifier', '😀'.repeat(20)],
  ['identifier', ' 1 '],
  ['identifier', 'a/b?c#d%20'],
  ['details', '€'.repeat(100)],
  ['details', '<script>alert(1)</script>\n"\''],
  ['amount', '0.00000001'],
  ['amount', '99999999999999999999.99999999'],
  ['amount', '007'],
  ['ipn_url', LONGEST_URL],
  ['ipn_url', 'http://127.0.0.1:3000'],
  ['ipn_url', 'http://[::1]:3000/ipn'],
  ['success_url', 'HTTP://localhost/ok'],
  ['success_url', 'http://localhost?paid=1'],
  ['success_url', 'http://localhost/é/日本?q=%zz'],
  ['checkout_theme', ''],
  ['checkout_theme', 'dark'],
  ['customer_name', '😀'.repeat(30)],
  ['customer_email', `${'a'.repeat(24)}@b.com`],
];

const REFUSED: [field: string, value: string | undefined][] = [
  ...Object.keys(fields())
    .filter((name) => name !== 'checkout_theme')
    .flatMap((name): [string, string | undefined][] => [
      [name, undefined],
      [name, ''],
    ]),
  ['public_key', 'k'.repeat(51)],
  ['identifier', 'x'.repeat(21)],
  ['currency', 'USDTT'],
  ['details', 'x'.repeat(101)],
  ['customer_name', 'x'.repeat(31)],
  ['customer_email', `${'a'.repeat(25)}@b.com`],
  ['customer_email', 'nobody'],
  ['customer_email', 'a b@c.de'],
  ['checkout_theme', 'blue'],
  ['ipn_url', `${LONGEST_URL}a`],
  ...['/ipn', 'localhost:3000/ipn', 'ftp://localhost/', 'javascript:alert(1)', 'http://', 'http:///x'].map(
    (url): [string, string] => ['ipn_url', url],
  ),
  ...['http://localhost/a b', 'http://localhost/\n', 'http://localhost/\0', 'http://localhost/\u0085'].map(
    (url): [string, string] => ['success_url', url],
  ),
  ...['0', '0.00', '-1', '+1', '1,000.00', '1.', '.5', '1e2', ' 1', '1 ', '0x10', 'NaN', '١'].map(
    (amount): [string, string] => ['amount', amount],
  ),
  ['amount', '1'.repeat(21)],
  ['amount', '1.123456789'],
];

describe.each(ENCODINGS)('initiate as %s', (encoding) => {
  it('answers with exactly the documented success, in both modes', async () => {
    const sim = await startSim();
    for (const mode of ['live', 'sandbox'] as const) {
      const { status, headers, answer } = await post(sim, valid(), { encoding, mode });
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
      expect(answer).toEqual({
        success: 'ok',
        message: 'Payment initiated. Redirect to url.',
        url: answer.url,
      });
      const path = mode === 'live' ? '/initiate' : '/sandbox/initiate';
      expect(answer.url).toMatch(
        new RegExp(`^${sim.url}${path}/payment/checkout\\?payment_id=[\\w-]{10,60}$`),
      );
    }
  });

  it('accepts values at the edge of every limit, and keeps them as they came', async () => {
    const sim = await startSim();
    for (const [name, value] of ACCEPTED) {
      const { answer } = await post(sim, valid({ [name]: value }), { encoding });
      expect([name, value, answer]).toEqual([name, value, expect.objectContaining({ success: 'ok' })]);
      const [payment] = (await sim.control<{ data: Record<string, unknown>[] }>('/payments?limit=1')).data;
      const kept = name.replace(/_./g, (part) => part.slice(1).toUpperCase());
      // Multipart writes line breaks as CR LF: that is the browser's doing.
      const sent = encoding === 'multipart' ? value.replace(/\n/g, '\r\n') : value;
      expect(payment?.[kept]).toBe(name === 'checkout_theme' ? value || 'light' : sent);
    }
  });

  it('refuses what is over a limit or missing, naming the field in message and errors', async () => {
    const sim = await startSim();
    for (const [name, value] of REFUSED) {
      const { status, answer } = await post(sim, valid({ [name]: value }), { encoding });
      expect([name, value, status]).toEqual([name, value, 200]);
      expect([name, value, answer]).toEqual([
        name,
        value,
        { error: 'true', message: expect.stringContaining(name), errors: [answer.message] },
      ]);
    }
    expect((await sim.control<{ data: unknown[] }>('/payments')).data).toEqual([]);
  });
});

describe('initiate', () => {
  it('names all field problems at once, then the currency, then the key', async () => {
    const sim = await startSim();
    const wrong = { public_key: 'nobody', currency: 'XXX', amount: '-1', details: '' };
    const all = (await post(sim, valid(wrong))).answer;
    expect(all.errors).toHaveLength(2);
    expect(all.message).toBe(all.errors?.[0]);
    expect(all.errors?.join()).toMatch(/amount.*details|details.*amount/);
    const currency = (await post(sim, valid({ public_key: 'nobody', currency: 'XXX' }))).answer;
    expect(currency.message).toContain('currency');
    const key = (await post(sim, valid({ public_key: 'nobody' }))).answer;
    expect(key).toEqual({ error: 'true', message: 'Invalid api key', errors: ['Invalid api key'] });
  });

  it('answers a secret key like any other wrong one, and says what happened in the log only', async () => {
    const sim = await startSim();
    const { answer } = await post(sim, valid({ public_key: sim.secretKey }));
    expect(answer).toEqual({ error: 'true', message: 'Invalid api key', errors: ['Invalid api key'] });
    const log = JSON.stringify(await sim.control('/requests'));
    expect(log).toContain('secret key');
    expect(log).not.toContain(sim.secretKey);
  });

  it.each([
    ['fields', { amount: 'x' }, 422],
    ['the currency', { currency: 'XXX' }, 422],
    ['the key', { public_key: 'nobody' }, 401],
  ] as const)('refuses %s with a status of its own under --error-status http', async (_, changes, status) => {
    const sim = await startSim({ errorStatus: 'http' });
    expect((await post(sim, valid(changes))).status).toBe(status);
  });

  it.each([
    ['text/plain', 'a=1', 415],
    ['text/xml; charset=utf-8', '<a/>', 415],
    [undefined, new Uint8Array([97]), 415],
    ['application/json', '{"amount":', 400],
    ['application/json', '[]', 400],
    ['application/json', 'null', 400],
    ['application/json', '', 400],
    ['multipart/form-data', 'a', 400],
    ['multipart/form-data; boundary=x', 'no boundary here', 400],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb', 400],
  ])('with the type %s and the body %j is a %s', async (type, body, status) => {
    const sim = await startSim();
    const headers: Record<string, string> = type ? { 'Content-Type': type } : {};
    const response = await fetch(sim.url + PATHS.live, { method: 'POST', headers, body });
    const answer = (await response.json()) as Answer;
    expect([response.status, answer.error]).toEqual([status, 'true']);
    if (status === 415) {
      for (const name of ['application/x-www-form-urlencoded', 'multipart/form-data', 'application/json']) {
        expect(answer.message).toContain(name);
      }
    }
  });

  it.each([
    ['25', '25'],
    ['25.5', '25.5'],
    ['0.1', '0.1'],
    ['100.00', '100'],
    ['123456789012345', '123456789012345'],
    ['0.000001', '0.000001'],
  ])('takes the JSON number %s as %s', async (number, text) => {
    const sim = await startSim();
    const body = JSON.stringify(valid({ public_key: sim.publicKey, amount: 0 })).replace(
      '"amount":0',
      `"amount":${number}`,
    );
    const headers = { 'Content-Type': 'application/json' };
    await fetch(sim.url + PATHS.live, { method: 'POST', headers, body });
    const { data } = await sim.control<{ data: { amount: string }[] }>('/payments');
    expect(data.map(({ amount }) => amount)).toEqual([text]);
  });

  it.each(['1e2', '1E+2', '0.0000001', '1234567890123456', '0.10000000000000001', '1e400'])(
    'refuses the JSON number %s: send a string',
    async (number) => {
      const sim = await startSim();
      const body = JSON.stringify(valid({ amount: 0 })).replace('"amount":0', `"amount":${number}`);
      const headers = { 'Content-Type': 'application/json' };
      const response = await fetch(sim.url + PATHS.live, { method: 'POST', headers, body });
      expect(((await response.json()) as Answer).message).toMatch(/^amount.*send a string/);
    },
  );

  it.each([true, [], {}, ['1']])('refuses the JSON value %j where text belongs', async (value) => {
    const sim = await startSim();
    const { answer } = await post(sim, valid({ details: value }), { encoding: 'json' });
    expect(answer.message).toBe('details must be text');
  });

  it('counts the last of a repeated field', async () => {
    const sim = await startSim();
    const body = new URLSearchParams(valid({ public_key: sim.publicKey }) as Record<string, string>);
    body.append('amount', '7');
    const multipart = new FormData();
    for (const [name, value] of body) multipart.append(name, value);
    for (const each of [body, multipart]) await fetch(sim.url + PATHS.live, { method: 'POST', body: each });
    const { data } = await sim.control<{ data: { amount: string }[] }>('/payments');
    expect(data.map(({ amount }) => amount)).toEqual(['7', '7']);
  });

  it('makes a new payment of a reused identifier, with a warning', async () => {
    const sim = await startSim();
    const urls = [(await post(sim, valid())).answer.url, (await post(sim, valid())).answer.url];
    expect(new Set(urls).size).toBe(2);
    const { data } = await sim.control<{ data: { warnings: string[] }[] }>('/payments');
    expect(
      data.map(({ warnings }) => warnings.filter((text) => text.includes('used before')).length),
    ).toEqual([1, 0]);
  });

  it('builds checkout URLs on --public-url and never on the Host header', async () => {
    const sim = await startSim({ publicUrl: 'https://pay.example.test/' });
    const { answer } = await post(sim, valid());
    expect(answer.url).toMatch(/^https:\/\/pay\.example\.test\/sandbox\/initiate\/payment\/checkout\?/);
  });

  it.each(['live', 'sandbox'] as const)('can be called from a browser on another site (%s)', async (mode) => {
    const sim = await startSim();
    const preflight = await fetch(sim.url + PATHS[mode], {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://shop.test',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'content-type,x-requested-with',
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toContain('POST');
    expect(preflight.headers.get('access-control-allow-headers')).toContain('x-requested-with');
    for (const changes of [{}, { amount: 'x' }, { public_key: 'nobody' }]) {
      const { headers } = await post(sim, valid(changes), { mode });
      expect(headers.get('access-control-allow-origin')).toBe('*');
    }
    const broken = await fetch(sim.url + PATHS[mode], { method: 'POST', body: 'text' });
    expect([broken.status, broken.headers.get('access-control-allow-origin')]).toEqual([415, '*']);
  });

  it('says in the log and not in the answer that --loose would have accepted it', async () => {
    const sim = await startSim();
    const { answer } = await post(sim, valid({ site_logo: '' }));
    expect(JSON.stringify(answer)).not.toContain('loose');
    expect(JSON.stringify(await sim.control('/requests'))).toContain('--loose');
  });
});

interface WireFixture {
  note: string;
  encoding: Encoding;
  mode: 'live' | 'sandbox';
  fields: Record<string, unknown>;
  /** `ok`, or the field that the refusal names. */
  strict: string;
  loose: string;
  /** Currencies of the installation beside the documented ones. */
  args?: string[];
}

const WIRE = new URL('../../fixtures/wire/', import.meta.url);
const WIRE_FIXTURES = readdirSync(WIRE).map((name) => ({
  name,
  ...(JSON.parse(readFileSync(new URL(name, WIRE), 'utf8')) as WireFixture),
}));

describe('the request of a published client', () => {
  const cases = WIRE_FIXTURES.flatMap((fixture) =>
    (['strict', 'loose'] as const).map((strictness) => ({
      ...fixture,
      strictness,
      expected: fixture[strictness],
    })),
  );

  it.each(cases)('$name is $expected when $strictness', async (fixture) => {
    const options: StartOptions = { loose: fixture.strictness === 'loose', currency: fixture.args ?? [] };
    const sim = await startSim(options);
    const { answer } = await post(sim, fixture.fields, fixture);
    if (fixture.expected === 'ok') expect(answer).toMatchObject({ success: 'ok' });
    else
      expect(answer).toMatchObject({
        error: 'true',
        message: expect.stringContaining(fixture.expected) as string,
      });
  });
});

describe('the IPN of an amount', () => {
  it.each(['100', '100.00', '49.9', '0.1'])(
    '%s is accepted by a receiver in the style of PHP',
    async (amount) => {
      const receiver = await startReceiver();
      const sim = await startSim();
      await post(sim, valid({ amount, ipn_url: `${receiver.url}/ipn?cart=1` }), { mode: 'live' });
      const settle = await fetch(`${sim.url}/_sim/payments/order-1/settle`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: '{"outcome":"approve"}',
      });
      expect(settle.status).toBe(200);
      const [received] = receiver.requests;
      const posted = phpPost(received?.body ?? '');
      expect(received?.url).toBe('/ipn?cart=1');
      expect(posted['data']).toMatchObject({ amount, currency: { code: 'USD', symbol: '$' } });
      const { amount: signed } = posted['data'] as { amount: string };
      const signature = createHmac('sha256', sim.secretKey).update(signed + String(posted['identifier']));
      expect(posted).toMatchObject({
        status: 'success',
        identifier: 'order-1',
        signature: signature.digest('hex').toUpperCase(),
      });
    },
  );
});

interface PhpArray {
  [name: string]: string | PhpArray;
}

/** `$_POST` as PHP makes it of a body: `a[b][c]=d` is an array in an array. */
function phpPost(body: string): PhpArray {
  const post: PhpArray = {};
  for (const [key, value] of new URLSearchParams(body)) {
    const path = key.split(/\[|\]\[|\]$/).filter((part) => part !== '');
    let at = post;
    for (const part of path.slice(0, -1)) {
      const inner = at[part];
      const next: PhpArray = typeof inner === 'object' ? inner : {};
      at[part] = next;
      at = next;
    }
    at[path.at(-1) ?? ''] = value;
  }
  return post;
}
