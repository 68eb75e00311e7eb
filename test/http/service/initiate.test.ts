import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StartOptions } from '../../../src/options/table.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { fields } from '../../helpers/records.ts';
import { startSim } from '../../helpers/sim.ts';

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

  it('names the fix first in the log, then the option for clients that cannot be changed', async () => {
    const { url, publicKey, control } = await startSim();
    const body = encoded(fields({ public_key: publicKey, identifier: 'x'.repeat(24) }), 'form').body ?? '';
    await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', body });
    const { data } = await control<{ data: { notes: string[] }[] }>('/requests');
    expect(data[0]?.notes).toEqual([
      'identifier must have at most 20 characters (got 24)',
      'For clients that you cannot change, use --profile observed or accept this request with: npx gateway-sim start --loose',
    ]);
  });

  const ours = { profile: 'document', currency: ['KES'] };

  it.each<[options: StartOptions, changes: Record<string, string>, accepts: boolean]>([
    [{}, { site_logo: '' }, true],
    [{}, { currency: 'npr' }, true],
    [{}, { currency: 'XOF' }, false],
    [{ currencies: [{ code: 'KES' }] }, { currency: 'kes' }, true],
    [{ loose: false }, { site_logo: '' }, false],
    // The currencies of the user replace those of the profile.
    [{ currency: ['KES'] }, { currency: 'NPR' }, false],
    [{ currency: ['KES'] }, { currency: 'kes' }, true],
    // The other profile replaces those of this one.
    [{ profile: 'ours.json' }, { site_logo: '', currency: 'KES' }, false],
  ])('with %j names --profile observed for %j only if that helps: %s', async (given, changes, accepts) => {
    const folder = await temporaryFolder({ 'ours.json': JSON.stringify(ours) });
    const named = given.profile ? { ...given, profile: join(folder, given.profile) } : given;
    for (const [options, isNamed] of [
      [named, accepts],
      [{ ...named, profile: 'observed' }, false],
    ] as const) {
      const { url, publicKey, control } = await startSim(options);
      const body = encoded(fields({ public_key: publicKey, ...changes }), 'form').body ?? '';
      const answer = await fetch(`${url}/sandbox/payment/initiate`, { method: 'POST', body });
      const isAccepted = Object.hasOwn((await answer.json()) as object, 'success');
      expect(isAccepted).toBe(options === named ? false : accepts);
      expect(JSON.stringify(await control('/requests')).includes('--profile observed')).toBe(isNamed);
    }
  });
});
