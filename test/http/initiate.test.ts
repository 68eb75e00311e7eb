import { describe, expect, it } from 'vitest';
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

  it('reports that --loose would accept it in the log, not in the response', async () => {
    const sim = await startSim();
    const { answer } = await post(sim, valid({ site_logo: '' }));
    expect(JSON.stringify(answer)).not.toContain('loose');
    expect(JSON.stringify(await sim.control('/requests'))).toContain('--loose');
  });
});
