import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import { PROFILE_NAMES } from '../src/contract/profiles.ts';
import { connectGatewaySim } from '../src/index.ts';
import type { StartOptions } from '../src/options/table.ts';
import { LINES } from './helpers/conform.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { ORDER, startSim } from './helpers/sim.ts';

/** Initiates an order with these changes on an emulator with these options. */
async function answerTo(options: StartOptions, changes: Record<string, string>, mode = '/sandbox') {
  const { url, publicKey } = await startSim(options);
  const body = new URLSearchParams({ public_key: publicKey, ...ORDER, ...changes });
  const answer = await fetch(`${url}${mode}/payment/initiate`, { method: 'POST', body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const NAMELESS = { customer_name: '' };
const REASON = 'customer_name is required';

describe('the OpenAPI document', () => {
  it('has the routes that the profile adds, and their manifest lines', async () => {
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
    'says why %s rejected it, in any error format',
    async (profile) => {
      const sim = await startSim({ profile });
      const gateway = await connectGatewaySim(sim.url);
      for (const mode of ['live', 'sandbox'] as const) {
        const refused = gateway.payments.create({ mode, customerName: 'x'.repeat(31) });
        await expect(refused).rejects.toMatchObject({
          message: 'customer_name must have at most 30 characters (got 31)',
          problems: ['customer_name must have at most 30 characters (got 31)'],
        });
      }
    },
  );
});

describe('the choices of a profile', () => {
  it.each(PROFILE_NAMES)('are in the status: %s', async (profile) => {
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

  it('are in the status together with the options that override them', async () => {
    const sim = await startSim({ profile: 'newer-server', amountFormat: 'sent', loose: true });
    const { fidelity } = await sim.control<{ fidelity: { changes: string[] } }>('/status');
    expect(fidelity.changes).toEqual(['valueLengths free', 'amountFormat sent']);
  });
});

describe('with a profile', () => {
  it('choices and options override it', async () => {
    const newer = { profile: 'newer-server' };
    const picky = await answerTo({ ...newer, choices: { siteLogo: 'required' } }, { site_logo: '' });
    expect(picky.body).toEqual({ error: 'yes', errors: ['site_logo is required'] });
    const { server } = await startSim({ ...newer, amountFormat: 'fixed:2' });
    expect(server.parts.runtime.settings.ipn.amountFormat).toBe('fixed:2');
  });

  it('--loose overrides both', async () => {
    const { body } = await answerTo({ loose: true, choices: { siteLogo: 'required' } }, { site_logo: '' });
    expect(body).toHaveProperty('success', 'ok');
  });

  it('a file can change it', async () => {
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

describe('an invalid profile', () => {
  it.each([
    ['newer', 'profile: unknown profile "newer": did you mean newer-server?'],
    ['/nowhere/ours.json', 'profile cannot be read from /nowhere/ours.json: ENOENT'],
  ])('rejects %s', async (profile, message) => {
    await expect(startSim({ profile })).rejects.toThrow(message);
  });

  it.each([
    [{ siteLogos: 'optional' }, 'choices has no choice "siteLogos": did you mean siteLogo?'],
    [{ siteLogo: 'maybe' }, 'choices: siteLogo must be one of required, optional (got "maybe")'],
  ])('rejects the choice %j', async (choices, message) => {
    await expect(startSim({ choices })).rejects.toThrow(message);
  });

  it.each([
    ['{"profile":"other"}', `must be one of ${PROFILE_NAMES.join(', ')}`],
    ['{"prot":1}', 'unknown key "prot"'],
    ['{', 'cannot be read from'],
  ])('rejects a file with %s', async (text, message) => {
    const file = join(await temporaryFolder(), 'ours.json');
    await writeFile(file, text);
    await expect(startSim({ profile: file })).rejects.toThrow(message);
  });
});
