import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { PROFILE_NAMES } from '../../src/contract/profiles.ts';
import { connectGatewaySim } from '../../src/index.ts';
import type { StartOptions } from '../../src/options/table.ts';
import { LINES } from '../helpers/conform.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER, startSim } from '../helpers/sim.ts';

/** What an emulator with these options answers to an order with these changes. */
async function answerTo(options: StartOptions, changes: Record<string, string>, mode = '/sandbox') {
  const { url, publicKey } = await startSim(options);
  const body = new URLSearchParams({ public_key: publicKey, ...ORDER, ...changes });
  const answer = await fetch(`${url}${mode}/payment/initiate`, { method: 'POST', body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const NAMELESS = { customer_name: '' };
const REASON = 'customer_name is required';

describe('a profile decides', () => {
  it.each([
    ['document', '/sandbox', { error: 'true', message: REASON, errors: [REASON] }],
    ['document', '', { error: 'true', message: REASON, errors: [REASON] }],
    ['older-server', '/sandbox', { error: 'yes', errors: [REASON] }],
    ['older-server', '', { error: 'true', message: [REASON] }],
    ['newer-server', '/sandbox', { error: 'yes', errors: [REASON] }],
    ['newer-server', '', { error: 'yes', errors: [REASON] }],
    ['observed', '', { error: 'true', message: REASON, errors: [REASON] }],
  ])('how refused fields are answered: %s at %s/payment/initiate', async (profile, mode, body) => {
    expect(await answerTo({ profile }, NAMELESS, mode)).toEqual({ status: 200, body });
  });

  it('how a currency and a key are refused', async () => {
    expect(await answerTo({ profile: 'older-server' }, { currency: 'ZZZ' })).toMatchObject({
      body: { error: 'true', message: 'Currency not supported' },
    });
    const wrongKey = await answerTo({ profile: 'newer-server' }, { public_key: 'pub_wrong' });
    expect(wrongKey.body).toEqual({ error: 'true', message: 'Invalid api key' });
  });

  it.each([
    ['document', { site_logo: '' }, false],
    ['older-server', { site_logo: '' }, false],
    ['newer-server', { site_logo: '' }, true],
    ['observed', { site_logo: '' }, true],
    ['newer-server', { site_logo: 'nowhere' }, false],
    ['document', { currency: 'usd' }, false],
    ['older-server', { currency: 'usd' }, true],
    ['newer-server', { currency: 'usd' }, true],
    ['observed', { currency: 'usd' }, true],
    ['newer-server', { details: 'x'.repeat(101) }, false],
    ['observed', { details: 'x'.repeat(101) }, true],
    ['document', { currency: 'PKR' }, false],
    ['observed', { currency: 'PKR' }, true],
    ['observed', { currency: 'GHS' }, true],
  ])('what initiate takes: %s, %j: %s', async (profile, changes, isTaken) => {
    const { body } = await answerTo({ profile }, changes);
    expect('success' in body).toBe(isTaken);
    expect('error' in body).toBe(!isTaken);
  });

  it.each([
    ['document', 405],
    ['older-server', 200],
    ['newer-server', 200],
    ['observed', 405],
  ])('whether initiate is answered by GET: %s', async (profile, status) => {
    const { url, publicKey } = await startSim({ profile });
    const query = new URLSearchParams({ public_key: publicKey, ...ORDER, details: 'Thé & more' });
    for (const mode of ['', '/sandbox']) {
      const answer = await fetch(`${url}${mode}/payment/initiate?${query}`);
      expect(answer.status).toBe(status);
      if (status === 200) expect(await answer.json()).toMatchObject({ success: 'ok' });
    }
  });

  it.each([
    ['document', 'sandbox', '49.90'],
    ['older-server', 'sandbox', '49.90'],
    ['older-server', 'live', '49.90000000'],
    ['newer-server', 'sandbox', '49.90000000'],
    ['newer-server', 'live', '49.90000000'],
    ['observed', 'live', '49.90'],
  ] as const)('how the IPN writes the amount: %s in %s mode', async (profile, mode, amount) => {
    const sim = await startSim({ profile });
    const receiver = await startReceiver();
    const checkout = await sim.initiate({ ...ORDER, ipn_url: receiver.url }, mode);
    await fetch(`${sim.url}/_sim/payments/order-1/settle`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{"outcome":"approve"}',
    });
    const { body } = await receiver.request(1);
    expect(new URLSearchParams(body).get('data[amount]')).toBe(amount);
    const isServer = profile.endsWith('server');
    const again = await fetch(checkout);
    expect(again.status).toBe(isServer ? 200 : 409);
    if (isServer)
      expect(await again.json()).toEqual({ error: 'true', message: 'Invalid transaction request' });
  });

  it.each([
    ['document', 5],
    ['older-server', 0],
    ['newer-server', 0],
  ])('how often an IPN is tried again: %s', async (profile, count) => {
    const { server } = await startSim({ profile });
    expect(server.parts.runtime.settings.ipn.schedule).toHaveLength(count);
  });
});

describe('the OpenAPI document', () => {
  it('has what the profile adds, and names the lines that show it', async () => {
    const sim = await startSim({ profile: 'newer-server' });
    const document = await sim.control<Document>('/openapi.json');
    expect(await new Validator().validate({ ...document })).toMatchObject({ valid: true });
    const { get, post } = document.paths['/payment/initiate'] ?? {};
    expect(get).toMatchObject({
      'x-source': 'observed',
      'x-fidelity': expect.arrayContaining(['route-initiate-by-get', 'route-initiate-by-get-live']),
    });
    expect(get?.parameters).toContainEqual(expect.objectContaining({ name: 'identifier', in: 'query' }));
    expect(post).toMatchObject({ 'x-fidelity': expect.arrayContaining(['initiate-sandbox', 'amount-zero']) });
    const known = new Set(LINES.map(({ id }) => id));
    const named = [...JSON.stringify(document).matchAll(/"x-fidelity":\[([^\]]*)\]/g)].flatMap(
      ([, list = '']): string[] => JSON.parse(`[${list}]`),
    );
    expect(named.filter((id) => !known.has(id))).toEqual([]);
    expect(named.length).toBeGreaterThan(500);
  });
});

interface Document {
  paths: Record<string, Record<string, { parameters?: object[] }>>;
}

describe('a command', () => {
  it.each(['older-server', 'newer-server'])(
    'tells why %s refused it, whatever the shape',
    async (profile) => {
      const sim = await startSim({ profile });
      const gateway = await connectGatewaySim(sim.url);
      for (const mode of ['live', 'sandbox'] as const) {
        const refused = gateway.payments.create({ mode, customerName: 'x'.repeat(31) });
        await expect(refused).rejects.toMatchObject({
          message: 'customer_name may have at most 30 characters (got 31)',
          problems: ['customer_name may have at most 30 characters (got 31)'],
        });
      }
    },
  );
});

describe('what a profile stands on', () => {
  it.each(PROFILE_NAMES)('is told by the status: %s', async (profile) => {
    const sim = await startSim({ profile });
    const { fidelity, options } =
      await sim.control<Record<'fidelity' | 'options', Record<string, number>>>('/status');
    const of = (kind?: string) =>
      LINES.filter(
        ({ profiles, source }) => profiles.includes(profile) && (kind === undefined || source.kind === kind),
      ).length;
    const counts = { documented: of('documented'), observed: of('observed'), chosen: of('chosen') };
    expect(fidelity).toEqual({ profile, changes: [], lines: of(), ...counts });
    expect(options).toMatchObject({ profile });
  });

  it('is told with what is chosen against it', async () => {
    const sim = await startSim({ profile: 'newer-server', amountFormat: 'sent', loose: true });
    const { fidelity } = await sim.control<{ fidelity: { changes: string[] } }>('/status');
    expect(fidelity.changes).toEqual(['valueLengths free', 'amountFormat sent']);
  });
});

describe('beside a profile', () => {
  it('single choices and options count more', async () => {
    const newer = { profile: 'newer-server' };
    const picky = await answerTo({ ...newer, choices: { siteLogo: 'required' } }, { site_logo: '' });
    expect(picky.body).toEqual({ error: 'yes', errors: ['site_logo is required'] });
    const { server } = await startSim({ ...newer, ipnRetries: 2, amountFormat: 'fixed:2' });
    const { ipn } = server.parts.runtime.settings;
    expect([ipn.schedule.length, ipn.amountFormat]).toEqual([2, 'fixed:2']);
  });

  it('--loose counts more than both', async () => {
    const { body } = await answerTo({ loose: true, choices: { siteLogo: 'required' } }, { site_logo: '' });
    expect(body).toHaveProperty('success', 'ok');
  });

  it('a file may say what is other than in one of them', async () => {
    const file = join(await temporaryFolder(), 'ours.json');
    const choices = { sandboxRefusal: 'message-list' };
    await writeFile(file, JSON.stringify({ profile: 'newer-server', choices, amountFormat: 'fixed:1' }));
    expect(await answerTo({ profile: file }, NAMELESS)).toMatchObject({
      body: { error: 'true', message: [REASON] },
    });
    const { server } = await startSim({ profile: file });
    const { options, settings } = server.parts.runtime;
    expect(options.profile).toBe('newer-server');
    expect([settings.ipn.amountFormat, settings.choices.siteLogo]).toEqual(['fixed:1', 'optional']);
  });
});

describe('what is no profile', () => {
  it.each([
    ['newer', 'profile: unknown profile "newer": did you mean newer-server?'],
    ['/nowhere/ours.json', 'profile cannot be read from /nowhere/ours.json: ENOENT'],
  ])('%s is refused', async (profile, message) => {
    await expect(startSim({ profile })).rejects.toThrow(message);
  });

  it.each([
    [{ siteLogos: 'optional' }, 'choices has no choice "siteLogos": did you mean siteLogo?'],
    [{ siteLogo: 'maybe' }, 'choices: siteLogo must be one of required, optional (got "maybe")'],
    ['optional', 'choices must be an object'],
  ])('nor is a choice %j taken', async (choices, message) => {
    await expect(startSim({ choices })).rejects.toThrow(message);
  });

  it.each([
    ['{"profile":"other"}', `must be one of ${PROFILE_NAMES.join(', ')}`],
    ['{"prot":1}', 'unknown key "prot"'],
    ['[]', 'it is not a JSON object'],
    ['{', 'cannot be read from'],
  ])('nor a file with %s', async (text, message) => {
    const file = join(await temporaryFolder(), 'ours.json');
    await writeFile(file, text);
    await expect(startSim({ profile: file })).rejects.toThrow(message);
  });
});
