import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { connectGatewaySim, GatewayError, startGatewaySim } from '../../src/index.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startLibrary } from '../helpers/library.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { startSim } from '../helpers/sim.ts';

const alive = (url: string) =>
  fetch(`${url}/_sim/livez`).then(
    () => true,
    () => false,
  );

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

describe('startGatewaySim', () => {
  it('runs an emulator in memory on a free port, and returns everything a test needs', async () => {
    const sim = await startLibrary();
    expect(sim.url).toBe(`http://127.0.0.1:${sim.port}`);
    expect(sim).toMatchObject({
      initiateUrl: `${sim.url}/sandbox/payment/initiate`,
      dataDir: null,
      tlsCa: null,
      controlToken: null,
      notices: [],
    });
    expect(sim.env).toEqual({
      GATEWAY_SIM_URL: sim.url,
      GATEWAY_SIM_PUBLIC_KEY: sim.publicKey,
      GATEWAY_SIM_SECRET_KEY: sim.secretKey,
      GATEWAY_SIM_INITIATE_URL: sim.initiateUrl,
    });
  });

  it('ignores environment variables', async () => {
    vi.stubEnv('GATEWAY_SIM_PORT', '1');
    vi.stubEnv('GATEWAY_SIM_AUTO', 'nonsense');
    expect((await startLibrary()).port).not.toBe(1);
  });

  it('runs independent emulators in parallel', async () => {
    const sims = await Promise.all(Array.from({ length: 3 }, () => startLibrary()));
    expect(new Set(sims.map(({ port }) => port)).size).toBe(3);
    await Promise.all(sims.map((sim, index) => sim.payments.create({ identifier: `of-${index}` })));
    await sims[0]?.reset();
    const identifiers = await Promise.all(
      sims.map(async (sim) => (await sim.payments.list()).data.map(({ identifier }) => identifier)),
    );
    expect(identifiers).toEqual([[], ['of-1'], ['of-2']]);
  });

  it('releases the port when it is stopped, once or twice', async () => {
    const sim = await startLibrary();
    await Promise.all([sim.stop(), sim.stop()]);
    await sim.stop();
    expect(await alive(sim.url)).toBe(false);
    await expect(sim.payments.list()).rejects.toMatchObject({
      code: 'no_server',
      message: `this emulator at ${sim.url} was stopped`,
      remedy: expect.stringContaining('afterAll'),
    });
  });

  it('stops at the end of its block when declared with await using', async () => {
    let url: string;
    {
      await using sim = await startGatewaySim();
      url = sim.url;
      expect(await alive(url)).toBe(true);
    }
    expect(await alive(url)).toBe(false);
  });

  it('keeps its state in a given folder', async () => {
    const dataDir = await temporaryFolder();
    const first = await startLibrary({ dataDir });
    expect(first.dataDir).toBe(dataDir);
    await first.payments.create({ identifier: 'kept' });
    await expect(startGatewaySim({ dataDir })).rejects.toMatchObject({ code: 'folder_in_use' });
    await first.stop();
    const second = await startLibrary({ dataDir });
    expect(await second.payments.get('kept')).toMatchObject({ status: 'pending' });
    await second.stop();
    const third = await startLibrary({ dataDir, fixtures: join(dataDir, 'none.json') });
    expect(third.notices).toEqual([expect.stringMatching(/^fixtures is ignored because /)]);
  });

  it('keeps the IPNs that a fault rule only postponed', async () => {
    const dataDir = await temporaryFolder();
    const receiver = await startReceiver();
    const first = await startLibrary({ dataDir, faults: [{ route: 'ipn', delay: '1ms' }] });
    await first.payments.create({ identifier: 'late', ipnUrl: receiver.url });
    await first.payments.approve('late');
    const { id, attempts } = await first.ipns.waitFor({ payment: 'late', state: 'delivered' });
    await first.stop();
    const second = await startLibrary({ dataDir });
    expect(await second.ipns.get(id)).toMatchObject({ attempts });
  });

  it.each([
    [{ autoDeley: '1s' }, 'usage', 'unknown option autoDeley: did you mean autoDelay?'],
    [{ open: true }, 'usage', 'unknown option open'],
    [{ quiet: true }, 'usage', 'unknown option quiet'],
    [{ detach: true }, 'usage', 'unknown option detach'],
    [{ auto: 'aprove' }, 'usage', 'auto must be one of approve, cancel, fail, expire (got "aprove")'],
    [{ port: 70_000 }, 'usage', 'port must be a whole number from 0 to 65535 (got 70000)'],
    [{ port: () => 1 }, 'usage', 'port must be a whole number from 0 to 65535'],
    [{ host: '203.0.113.1' }, 'usage', 'cannot listen on 203.0.113.1'],
    ['approve', 'usage', 'the options must be an object (got "approve")'],
  ])('rejects %j', async (options, code, message) => {
    // Like a call from plain JavaScript.
    const start = startGatewaySim as (options: unknown) => Promise<unknown>;
    const refused = await start(options).catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(GatewayError);
    expect(refused).toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('reports that its port is in use', async () => {
    const { port } = await startLibrary();
    await expect(startGatewaySim({ port })).rejects.toMatchObject({
      code: 'port_in_use',
      remedy: expect.stringContaining('Use any free port with port (0)'),
    });
  });
});

describe('connectGatewaySim', () => {
  it('connects to an emulator elsewhere, with its current keys', async () => {
    const sim = await startLibrary();
    await sim.merchants.generateKeys();
    const client = await connectGatewaySim(`${sim.url}/`);
    expect(client).toMatchObject({ url: sim.url, publicKey: sim.publicKey, secretKey: sim.secretKey });
    await client.payments.create({ identifier: 'over there' });
    expect(await sim.payments.get('over there')).toMatchObject({ status: 'pending' });
  });

  it('connects with the variables that exec sets', async () => {
    const sim = await startLibrary({ host: '0.0.0.0' });
    for (const [name, value] of Object.entries(sim.env)) vi.stubEnv(name, value);
    const client = await connectGatewaySim();
    expect(client.env).toEqual(sim.env);
    expect((await client.payments.list()).data).toEqual([]);
  });

  it('treats an empty variable as unset, and does not guess an address', async () => {
    vi.stubEnv('GATEWAY_SIM_URL', '');
    vi.stubEnv('GATEWAY_SIM_CONTROL_TOKEN', '');
    vi.spyOn(process, 'cwd').mockReturnValue(await temporaryFolder());
    await expect(connectGatewaySim()).rejects.toMatchObject({
      code: 'no_server',
      message: expect.stringContaining('GATEWAY_SIM_URL is not set'),
      remedy: expect.stringContaining('exec -- <your test command>'),
    });
    const sim = await startSim();
    expect((await connectGatewaySim(sim.url, { controlToken: '' })).controlToken).toBeNull();
  });

  it('requires the control token if the emulator does', async () => {
    const sim = await startSim({ host: '0.0.0.0', controlToken: 'a-long-secret' });
    for (const controlToken of [undefined, 'wrong']) {
      await expect(connectGatewaySim(sim.url, { controlToken })).rejects.toMatchObject({
        code: 'unauthorized',
        message: 'the control token is missing or wrong',
        remedy: expect.stringMatching(/^(?!.*--).*controlToken/),
      });
    }
    const client = await connectGatewaySim(sim.url, { controlToken: 'a-long-secret' });
    expect(client.controlToken).toBe('a-long-secret');
  });

  it.each(['localhost:4477', 'ftp://localhost/', '', 'file:///tmp'])(
    'rejects the address %j',
    async (url) => {
      await expect(connectGatewaySim(url)).rejects.toMatchObject({
        code: 'usage',
        message: `the address of the emulator must be an absolute http or https address (got ${JSON.stringify(url)})`,
      });
    },
  );

  it('names options, not flags, in later errors', async () => {
    const sim = await startLibrary();
    const client = await connectGatewaySim(sim.url);
    for (const { ipns, faults } of [client, sim]) {
      const refused = await ipns.fire({ to: 'http://192.0.2.1/ipn' }).catch((error: unknown) => error);
      expect(refused).toMatchObject({ code: 'forbidden', remedy: expect.stringContaining('forwardIpn') });
      expect((refused as GatewayError).remedy).not.toContain('--');
      await expect(faults.set({ route: 'nowhere', status: 500 })).rejects.toBeInstanceOf(GatewayError);
    }
  });

  it('reports that no emulator responds', async () => {
    const sim = await startSim();
    await sim.server.stop();
    await expect(connectGatewaySim(sim.url)).rejects.toMatchObject({
      code: 'no_server',
      remedy:
        'Start one with: gateway-sim start. Or pass its address to connectGatewaySim(url) or in GATEWAY_SIM_URL.',
    });
  });
});

describe('startGatewaySim({ tls: true })', () => {
  it('works like any other, trusts its own certificate, and leaves nothing behind', async () => {
    const sim = await startLibrary({ tls: true });
    expect(sim.url).toMatch(/^https:/);
    await sim.payments.create({ identifier: 'order-1' });
    const { payment, redirectUrl } = await sim.payments.approve('order-1');
    expect([payment.status, redirectUrl]).toEqual(['succeeded', `${sim.url}/_sim/ui/paid`]);
    const card = await sim.cards.create();
    expect(card.status).toBe('active');
    const { tlsCa } = sim;
    expect(sim.env).toMatchObject({ GATEWAY_SIM_TLS_CA: tlsCa, NODE_EXTRA_CA_CERTS: tlsCa });
    await sim.stop();
    expect(existsSync(tlsCa ?? '')).toBe(false);
  });

  it('is trusted only through its certificate file', async () => {
    const sim = await startLibrary({ tls: true });
    const other = await connectGatewaySim(sim.url, { tlsCa: sim.tlsCa ?? '' });
    expect((await other.payments.list()).data).toEqual([]);
    await expect(connectGatewaySim(sim.url)).rejects.toMatchObject({ code: 'no_server' });
    const again = await startLibrary({ tls: true });
    // Each emulator has its own authority.
    await expect(connectGatewaySim(sim.url, { tlsCa: again.tlsCa ?? '' })).rejects.toMatchObject({
      code: 'no_server',
    });
  });
});
