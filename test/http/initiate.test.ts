import { describe, expect, it } from 'vitest';
import { fields } from '../helpers/records.ts';
import { startSim } from '../helpers/sim.ts';

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

  it('explains a rejection in the log, but not in the response', async () => {
    const { url, publicKey, control } = await startSim();
    const body = encoded(fields({ public_key: publicKey, site_logo: '' }), 'form').body ?? '';
    const answer = await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', body });
    expect(await answer.text()).not.toContain('loose');
    expect(JSON.stringify(await control('/requests'))).toContain('--loose');
  });
});
