import { syncBuiltinESMExports } from 'node:module';
import { type AddressInfo, createServer, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorOf } from '../../src/contract/describe-delivery.ts';
import { Egress, EgressError } from '../../src/delivery/egress.ts';
import { Poster } from '../../src/delivery/poster.ts';
import type { ReceiverTrust } from '../../src/delivery/receiver-trust.ts';
import { readCertificates } from '../../src/tls/given-pair.ts';
import { LOOPBACK_NAMES, writePair } from '../helpers/certificates.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSecureReceiver } from '../helpers/secure-receiver.ts';

/** A receiver with a certificate for these names, and what trusts its issuer. */
async function receiving(names: readonly string[] = LOOPBACK_NAMES, host?: string) {
  const pair = await writePair(await temporaryFolder(), 'receiver', names);
  const receiver = await startSecureReceiver(pair, host);
  return { ...receiver, caFile: pair.ca, ca: await readCertificates(pair.ca, '--ipn-ca') };
}

async function post(url: string, trust: ReceiverTrust, egress = new Egress([], () => undefined)) {
  const name = new URL(url).hostname;
  const poster = new Poster(egress, trust);
  onTestFinished(() => poster.close());
  const report = await poster.post({
    ...{ url, name, headers: [], body: '', timeoutMs: 60_000, signal: new AbortController().signal },
  });
  const refused = report.failure?.code === 'egress';
  return { status: report.responseStatus, error: errorOf(report), refused };
}

/** All names lead to this machine, as if that were a public address. */
class PublicNames extends Egress {
  constructor() {
    super([], () => undefined);
  }

  override lookup(_port: number, { localOnly = false } = {}): LookupFunction {
    return (_name, _options, callback) =>
      localOnly
        ? callback(
            new EgressError({ code: 'egress', reason: 'public', host: 'x', address: null, port: 443 }),
            '',
          )
        : callback(null, [{ address: '127.0.0.1', family: 4 }]);
  }
}

const HAS_IPV6 = Object.values(networkInterfaces()).some((list) =>
  list?.some(({ address }) => address === '::1'),
);

const ARRIVED = { status: 200, error: null, refused: false };

describe('a receiver with a certificate of its own', () => {
  it('is not trusted, and it is said what would trust it', async () => {
    const { port } = await receiving();
    const { status, error } = await post(`https://127.0.0.1:${port}/`, {});
    expect([status, error]).toEqual([
      null,
      expect.stringContaining('is not trusted: set NODE_EXTRA_CA_CERTS or --ipn-ca'),
    ]);
  });

  it('is trusted by --ipn-ca, at the names that it is for', async () => {
    const { port, ca } = await receiving(['localhost']);
    expect(await post(`https://localhost:${port}/`, { ca })).toEqual(ARRIVED);
    expect((await post(`https://127.0.0.1:${port}/`, { ca })).error).toContain('altnames');
    const other = await receiving();
    expect((await post(`https://127.0.0.1:${other.port}/`, { ca })).error).toContain('is not trusted');
  });

  it.runIf(HAS_IPV6)('is asked for by no name where it has none, as at [::1]', async () => {
    const { port, ca, requests } = await receiving(LOOPBACK_NAMES, '::1');
    expect(await post(`https://[::1]:${port}/`, { ca })).toEqual(ARRIVED);
    expect(requests).toMatchObject([{ servername: false }]);
  });

  it('is trusted beside --ipn-ca by the list that Node brings', async () => {
    const made = vi.spyOn(tls, 'createSecureContext');
    syncBuiltinESMExports();
    onTestFinished(() => {
      made.mockRestore();
      syncBuiltinESMExports();
    });
    const { port, ca } = await receiving();
    await post(`https://127.0.0.1:${port}/`, { ca });
    // No receiver here has a certificate of that list.
    expect(made.mock.calls.map(([options]) => options?.ca)).toContainEqual(
      expect.arrayContaining([...tls.rootCertificates, ca]),
    );
  });

  it('is trusted beside --ipn-ca by NODE_EXTRA_CA_CERTS, where that can be read', async () => {
    const [{ ca }, extra] = [await receiving(), await receiving()];
    const url = `https://127.0.0.1:${extra.port}/`;
    vi.stubEnv('NODE_EXTRA_CA_CERTS', extra.caFile);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await post(url, { ca })).toEqual(ARRIVED);
    vi.stubEnv('NODE_EXTRA_CA_CERTS', `${extra.caFile}.none`);
    expect((await post(url, { ca })).error).toContain('is not trusted');
  });
});

describe('--ipn-insecure', () => {
  it.each(['127.0.0.1', 'localhost'])('takes any certificate at %s', async (host) => {
    const { port, requests } = await receiving(['elsewhere.example']);
    expect(await post(`https://${host}:${port}/`, { insecure: true })).toEqual(ARRIVED);
    expect(requests).toHaveLength(1);
  });

  it('also where the user allows the host, as --forward-ipn does, if it is local', async () => {
    const { port } = await receiving(['elsewhere.example']);
    const egress = new Egress(['localhost'], () => undefined);
    expect(await post(`https://localhost:${port}/`, { insecure: true }, egress)).toEqual(ARRIVED);
  });

  it('checks certificates as always where an address is not local, although it is allowed', async () => {
    const { port } = await receiving(['elsewhere.example']);
    // The unspecified address leads to this machine, but is no loopback address.
    const egress = new Egress(['0.0.0.0'], () => undefined);
    const { error } = await post(`https://0.0.0.0:${port}/`, { insecure: true }, egress);
    expect(error).toContain('is not trusted');
  });

  it('checks them where a name leads elsewhere', async () => {
    const { port } = await receiving(['elsewhere.example']);
    const { error } = await post(`https://localhost:${port}/`, { insecure: true }, new PublicNames());
    expect(error).toContain('is not trusted');
  });

  it('makes one attempt where a local receiver gives no answer', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const { error } = await post(`https://127.0.0.1:${port}/`, { insecure: true });
    expect(error).not.toBeNull();
    expect(connections).toBe(1);
  });

  it('lets nothing out that is not let out without it', async () => {
    const refused = await post('https://203.0.113.7/', { insecure: true });
    expect(refused).toMatchObject({ status: null, refused: true });
  });
});
