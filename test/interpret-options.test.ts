import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it } from 'vitest';
import type { Settled } from '../src/contract/payment.ts';
import { PROFILE_NAMES } from '../src/contract/profiles.ts';
import { connectGatewaySim } from '../src/index.ts';
import type { StartOptions } from '../src/options/start-options.ts';
import { writePair } from './helpers/certificates.ts';
import { LINES } from './helpers/conform.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { pageOf } from './helpers/forms.ts';
import { startReceiver } from './helpers/receiver.ts';
import { startSecureReceiver } from './helpers/secure-receiver.ts';
import { ask, enter, idOf, ORDER, type Sim, startSim } from './helpers/sim.ts';

/** Initiates an order with these changes on an emulator with these options. */
async function answerTo(options: StartOptions, changes: Record<string, string>, mode = '/sandbox') {
  const { url, publicKey } = await startSim(options);
  const body = new URLSearchParams({ public_key: publicKey, ...ORDER, ...changes });
  const answer = await fetch(`${url}${mode}/payment/initiate`, { method: 'POST', body });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

describe('the OpenAPI document', () => {
  it('has the routes that the profile adds, and their manifest lines', async () => {
    const sim = await startSim({ profile: 'server' });
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
  it('says why a server rejected it, in its error format', async () => {
    const sim = await startSim({ profile: 'server' });
    const gateway = await connectGatewaySim(sim.url);
    for (const mode of ['live', 'sandbox'] as const) {
      const refused = gateway.payments.create({ mode, customerName: 'x'.repeat(31) });
      await expect(refused).rejects.toMatchObject({
        message: 'customer_name must have at most 30 characters (got 31)',
        problems: ['customer_name must have at most 30 characters (got 31)'],
      });
    }
  });
});

describe('the choices of a profile', () => {
  it.each(PROFILE_NAMES)('are in the status: %s', async (profile) => {
    const sim = await startSim({ profile });
    const { fidelity, options } =
      await sim.control<Record<'fidelity' | 'options', Record<string, number>>>('/status');
    expect(fidelity).toEqual({ profile, changes: [] });
    expect(options).toMatchObject({ profile });
  });

  it('are in the status together with the options that override them', async () => {
    const sim = await startSim({ profile: 'server', amountFormat: 'sent', loose: true });
    const { fidelity } = await sim.control<{ fidelity: { changes: string[] } }>('/status');
    expect(fidelity.changes).toEqual(['valueLengths free', 'amountFormat sent']);
  });
});

describe('with a profile', () => {
  it('options override it', async () => {
    const { server } = await startSim({ profile: 'server', amountFormat: 'fixed:2' });
    expect(server.parts.runtime.settings.ipn.amountFormat).toBe('fixed:2');
  });

  it('--loose overrides it', async () => {
    const { body } = await answerTo({ loose: true }, { site_logo: '' });
    expect(body).toHaveProperty('success', 'ok');
  });
});

describe('an invalid profile', () => {
  it.each(['other', './ours.json', ''])('rejects %j, and names the profiles', async (profile) => {
    await expect(startSim({ profile } as StartOptions)).rejects.toMatchObject({
      code: 'usage',
      message: `--profile must be one of document, observed, server (got "${profile}")`,
    });
  });
});

describe('the options for IPNs', () => {
  const ipnSchedule = ['1s', '2s'];

  it.each<[StartOptions, waits: number[]]>([
    [{}, []],
    ...PROFILE_NAMES.map((profile): [StartOptions, number[]] => [{ profile }, []]),
    [{ ipnSchedule }, [1_000, 2_000]],
    [{ ipnSchedule, ipnRetries: 0 }, []],
    [{ ipnSchedule, ipnRetries: 1 }, [1_000]],
    [{ ipnSchedule, ipnRetries: 4 }, [1_000, 2_000, 2_000, 2_000]],
    // The first waits of the default schedule.
    [{ ipnRetries: 2 }, [1_000, 5_000]],
  ])('%j mean retries after %j ms', async (options, waits) => {
    const { server } = await startSim(options);
    expect(server.parts.runtime.settings.ipn.schedule).toEqual(waits);
  });

  it.each<[StartOptions, RegExp]>([
    [{ ipnSchedule: ['1s', 'soon'] }, /--ipn-schedule must be durations.*"soon"/],
    [{ ipnSchedule: ['721h'] }, /--ipn-schedule.*at most 720h/],
    [{ ipnTimeout: '0s' }, /must be from 1ms to 10m/],
    [{ ipnTimeout: '11m' }, /must be from 1ms to 10m/],
    [{ ipnOn: ['cancelled'] }, /--ipn-on accepts canceled, failed, expired.*did you mean canceled/],
    [{ forwardIpn: 'localhost:3000' }, /--forward-ipn must be an absolute http or https address/],
    [{ ipnRetries: 101 }, /--ipn-retries must be a whole number from 0 to 100/],
  ])('are rejected with the name of the option: %j', async (options, message) => {
    await expect(startSim(options)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringMatching(message),
    });
  });
});

/** URLs that a shop sends in production. */
const SENT = {
  ipn_url: 'https://shop.example/wc-api/ipn?order=1&key=%20x',
  success_url: 'https://shop.example:8443/thanks?order=1#é',
  cancel_url: 'https://Shop.Example?cancel',
  site_logo: 'https://cdn.example/logo.png',
};

async function settled(sim: Sim, fields: Record<string, string> = {}, outcome = 'approve'): Promise<Settled> {
  const id = idOf(await sim.initiate({ ...ORDER, ...SENT, ...fields }));
  const json = { outcome, awaitDelivery: true };
  return (await ask<Settled>(sim, 'POST', `/payments/${id}/settle`, json)).body;
}

/** Starts an emulator that maps the shop to a local receiver. */
async function mappedSim(more: StartOptions = {}) {
  const receiver = await startReceiver();
  const { port } = receiver;
  const forwardIpn = [`shop.example=127.0.0.1:${port}`, 'cdn.example=localhost:1'];
  return { receiver, port, sim: await startSim({ forwardIpn, ...more }) };
}

describe('a mapped host', () => {
  it("is shown as mapped on a payment's page", async () => {
    const { port, sim } = await mappedSim();
    const { payment } = await settled(sim);
    const html = await pageOf(sim, `/_sim/ui/payments/${payment.id}`);
    const text = html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ');
    expect(text).toContain(`mapped to http://127.0.0.1:${port}/wc-api/ipn?order=1`);
    expect(text).toContain(`mapped to http://127.0.0.1:${port}?cancel`);
  });

  it('gets its IPNs at the target, with the original path, query and Host header', async () => {
    const { receiver, port, sim } = await mappedSim();
    const { delivery, payment } = await settled(sim);
    const { url, headers } = await receiver.request(1);
    expect([url, headers.host]).toEqual(['/wc-api/ipn?order=1&key=%20x', 'shop.example']);
    expect(headers['x-gateway-sim-original-url']).toBe(SENT.ipn_url);
    const target = `http://127.0.0.1:${port}/wc-api/ipn?order=1&key=%20x`;
    expect(delivery).toMatchObject({ url: SENT.ipn_url, forwardedTo: target, state: 'delivered' });
    expect(delivery?.attempts).toMatchObject([{ url: target, responseStatus: 200 }]);
    expect(payment.warnings.filter((text) => text.includes('cannot be reached'))).toEqual([]);
  });

  it('is replaced in redirects of browsers, but its URLs are stored as received', async () => {
    const { port, sim } = await mappedSim();
    const shop = `http://127.0.0.1:${port}`;
    const approved = await settled(sim);
    expect(approved.redirectUrl).toBe(`${shop}/thanks?order=1#é`);
    expect(approved.payment).toMatchObject({
      ipnUrl: SENT.ipn_url,
      successUrl: SENT.success_url,
      cancelUrl: SENT.cancel_url,
      siteLogo: SENT.site_logo,
      mappedTo: {
        ipnUrl: `${shop}/wc-api/ipn?order=1&key=%20x`,
        successUrl: `${shop}/thanks?order=1#é`,
        cancelUrl: `${shop}?cancel`,
        siteLogo: 'http://localhost:1/logo.png',
      },
    });
    expect((await settled(sim, {}, 'cancel')).redirectUrl).toBe(`${shop}?cancel`);
    const plain = await settled(sim, { ...ORDER, ipn_url: 'http://127.0.0.1:9/' });
    expect(plain).toMatchObject({ payment: { mappedTo: null }, delivery: { forwardedTo: null } });
    expect(plain.redirectUrl).toBe(ORDER['success_url']);
  });

  it('is replaced in the logo and links on the checkout', async () => {
    const { port, sim } = await mappedSim();
    const checkout = await sim.initiate({ ...ORDER, ...SENT });
    const page = await (await fetch(checkout)).text();
    expect(page).toContain('src="http://localhost:1/logo.png"');
    const cancelled = await enter(checkout, 'cancel');
    expect([cancelled.status, cancelled.headers.get('location')]).toEqual([
      303,
      `http://127.0.0.1:${port}?cancel`,
    ]);
    const closed = await (await fetch(checkout)).text();
    expect(closed).toContain(`href="http://127.0.0.1:${port}?cancel"`);
    expect(closed).not.toContain('shop.example');
  });

  it('is replaced if a payment settles automatically', async () => {
    const { port, sim } = await mappedSim({ auto: 'approve', autoDelay: '0ms', delivery: 'redirect-only' });
    const checkout = await sim.initiate({ ...ORDER, ...SENT });
    const location = async () => (await fetch(checkout, { redirect: 'manual' })).headers.get('location');
    await expect.poll(location).toContain(`http://127.0.0.1:${port}/thanks?order=1`);
  });

  it('uses TLS with the original host name if the target has https', async () => {
    const folder = await temporaryFolder();
    for (const name of ['shop.example', 'localhost']) {
      const pair = await writePair(folder, 'shop', [name]);
      const receiver = await startSecureReceiver(pair);
      const forwardIpn = [`shop.example=https://localhost:${receiver.port}`];
      const sim = await startSim({ forwardIpn, ipnCa: pair.ca });
      const { delivery } = await settled(sim);
      expect(delivery?.attempts).toMatchObject([{ error: null, responseStatus: 200 }]);
      expect(receiver.requests).toEqual([
        { host: 'shop.example', servername: 'shop.example', url: '/wc-api/ipn?order=1&key=%20x' },
      ]);
    }
  });

  it('must be allowed if the target is public', async () => {
    const sim = await startSim({ forwardIpn: ['shop.example=https://203.0.113.7'] });
    const { delivery, payment } = await settled(sim);
    expect(delivery).toMatchObject({
      state: 'refused',
      note: expect.stringContaining('--allow-ipn-host 203.0.113.7'),
    });
    expect(payment.warnings).toContainEqual(expect.stringContaining('--allow-ipn-host 203.0.113.7'));
  });

  it('is not replaced in an address that the user enters, and an address for all IPNs overrides the mapping', async () => {
    const { receiver, sim } = await mappedSim();
    const other = await startReceiver();
    const { delivery } = await settled(sim);
    await ask(sim, 'POST', `/ipns/${delivery?.id}/resend`, { to: `${other.url}/mine` });
    expect((await other.request(1)).url).toBe('/mine');
    const forwarding = await startSim({
      forwardIpn: [`shop.example=127.0.0.1:${receiver.port}`, `${other.url}/all`],
    });
    expect((await settled(forwarding)).delivery?.forwardedTo).toContain(`${other.url}/all?order=1`);
  });
});
