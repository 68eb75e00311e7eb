import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { StartOptions } from '../../src/options/table.ts';
import { fields } from '../helpers/records.ts';
import { type Sim, startSim } from '../helpers/sim.ts';

/*
 * fixtures/fidelity/manifest.jsonl has the rules for fields and responses; conform.test.ts checks the emulator
 * against it. These tests check what one request and its response cannot show.
 */

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
  it.each(ENCODINGS)('keeps values as received in a body of %s', async (encoding) => {
    const sim = await startSim();
    expect((await post(sim, valid(ODD), { encoding })).answer).toMatchObject({ success: 'ok' });
    const { data } = await sim.control<{ data: Record<string, unknown>[] }>('/payments');
    expect(data).toMatchObject([
      {
        identifier: ODD.identifier,
        // In multipart bodies, browsers write line breaks as CR LF.
        details: encoding === 'multipart' ? ODD.details.replace(/\n/g, '\r\n') : ODD.details,
        amount: ODD.amount,
        successUrl: ODD.success_url,
        cancelUrl: ODD.cancel_url,
        customerName: ODD.customer_name,
      },
    ]);
  });

  it('creates no payment for a rejected request', async () => {
    const sim = await startSim();
    for (const changes of [{ amount: '-1' }, { currency: 'XXX' }, { public_key: 'nobody' }])
      expect((await post(sim, valid(changes))).answer.error).toBe('true');
    expect((await sim.control<{ data: unknown[] }>('/payments')).data).toEqual([]);
  });

  it('reports a sent secret key in the log only', async () => {
    const sim = await startSim();
    const { answer } = await post(sim, valid({ public_key: sim.secretKey }));
    expect(answer).toEqual({ error: 'true', message: 'Invalid api key', errors: ['Invalid api key'] });
    const log = JSON.stringify(await sim.control('/requests'));
    expect(log).toContain('secret key');
    expect(log).not.toContain(sim.secretKey);
  });

  it.each([
    ['application/json', 'null'],
    ['application/json', ''],
    ['multipart/form-data; boundary=x', 'no boundary here'],
    ['multipart/form-data; boundary=x', '--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb'],
  ])('responds 400 to %s %j, which a page of another site may read', async (type, body) => {
    const sim = await startSim();
    const headers = { 'Content-Type': type };
    const response = await fetch(sim.url + PATHS.live, { method: 'POST', headers, body });
    expect([response.status, ((await response.json()) as Answer).error]).toEqual([400, 'true']);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('reads JSON numbers as their shortest text', async () => {
    const sim = await startSim();
    const numbers = ['25', '25.5', '100.00', '123456789012345', '0.000001'];
    for (const number of numbers) {
      const body = JSON.stringify(valid({ public_key: sim.publicKey, amount: 0 })).replace(
        '"amount":0',
        `"amount":${number}`,
      );
      const headers = { 'Content-Type': 'application/json' };
      await fetch(sim.url + PATHS.live, { method: 'POST', headers, body });
    }
    const { data } = await sim.control<{ data: { amount: string }[] }>('/payments');
    expect(data.map(({ amount }) => amount).reverse()).toEqual(
      numbers.map((number) => String(Number(number))),
    );
  });

  it('creates a new payment for a reused identifier, with a warning', async () => {
    const sim = await startSim();
    const urls = [(await post(sim, valid())).answer.url, (await post(sim, valid())).answer.url];
    expect(new Set(urls).size).toBe(2);
    const { data } = await sim.control<{ data: { warnings: string[] }[] }>('/payments');
    expect(
      data.map(({ warnings }) => warnings.filter((text) => text.includes('used before')).length),
    ).toEqual([1, 0]);
  });

  it('builds checkout URLs on --public-url', async () => {
    const sim = await startSim({ publicUrl: 'https://pay.example.test/' });
    const { answer } = await post(sim, valid());
    expect(answer.url).toMatch(/^https:\/\/pay\.example\.test\/sandbox\/initiate\/payment\/checkout\?/);
  });

  it('reports that --loose would accept it in the log, not in the response', async () => {
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
  /** `ok`, or the field that the error names. */
  strict: string;
  loose: string;
  /** Currencies of the installation in addition to the documented ones. */
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
