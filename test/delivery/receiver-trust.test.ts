import { syncBuiltinESMExports } from 'node:module';
import { createServer, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import tls from 'node:tls';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { errorOf } from '../../src/contract/describe-delivery.ts';
import { Egress, EgressError } from '../../src/delivery/egress.ts';
import { Poster, type ReceiverTrust } from '../../src/delivery/poster.ts';
import { readCertificates } from '../../src/tls/identity.ts';
import { listen } from '../helpers/answering.ts';
import { LOOPBACK_NAMES, writePair } from '../helpers/certificates.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startSecureReceiver } from '../helpers/secure-receiver.ts';

/** A receiver with a certificate for these names, and its CA certificate. */
async function receiving(names: readonly string[] = LOOPBACK_NAMES, host?: string) {
  const pair = await writePair(await temporaryFolder(), 'receiver', names);
  const receiver = await startSecureReceiver(pair, host);
  return { ...receiver, caFile: pair.ca, ca: await readCertificates(pair.ca, '--ipn-ca') };
}

async function post(url: string, trust: ReceiverTrust, egress = new Egress([], () => undefined)) {
  const name = new URL(url).hostname;
  const poster = new Poster(egress, trust);
  onTestFinished(() => poster.close());
  const { signal } = new AbortController();
  const report = await poster.post({ url, name, headers: [], body: '', timeoutMs: 60_000, signal });
  return { status: report.responseStatus, error: errorOf(report), failure: report.failure };
}

/** Resolves all names to this machine, as if it had a public address. */
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

const ARRIVED = { status: 200, error: null, failure: null };

describe('a receiver with a certificate from an unknown CA', () => {
  it('is not trusted, and the error names the option that trusts it', async () => {
    const { port } = await receiving();
    expect(await post(`https://127.0.0.1:${port}/`, {})).toMatchObject({
      status: null,
      error: expect.stringContaining('is not trusted: set NODE_EXTRA_CA_CERTS or --ipn-ca'),
    });
  });

  it('is trusted with --ipn-ca, for the names in its certificate', async () => {
    const { port, ca } = await receiving(['localhost']);
    expect(await post(`https://localhost:${port}/`, { ca })).toEqual(ARRIVED);
    expect((await post(`https://127.0.0.1:${port}/`, { ca })).error).toContain('altnames');
    const other = await receiving();
    expect((await post(`https://127.0.0.1:${other.port}/`, { ca })).error).toContain('is not trusted');
  });

  it.runIf(HAS_IPV6)('gets no server name for an IP address such as [::1]', async () => {
    const { port, ca, requests } = await receiving(LOOPBACK_NAMES, '::1');
    expect(await post(`https://[::1]:${port}/`, { ca })).toEqual(ARRIVED);
    expect(requests).toMatchObject([{ servername: false }]);
  });

  it('can also be trusted through Node’s root certificates with --ipn-ca', async () => {
    const made = vi.spyOn(tls, 'createSecureContext');
    syncBuiltinESMExports();
    onTestFinished(() => {
      made.mockRestore();
      syncBuiltinESMExports();
    });
    const { port, ca } = await receiving();
    await post(`https://127.0.0.1:${port}/`, { ca });
    // No test receiver can have a certificate from a real CA.
    expect(made.mock.calls.map(([options]) => options?.ca)).toContainEqual(
      expect.arrayContaining([...tls.rootCertificates, ca]),
    );
  });

  it('can also be trusted through NODE_EXTRA_CA_CERTS with --ipn-ca, if that file is readable', async () => {
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
  it.each(['127.0.0.1', 'localhost'])('accepts any certificate at %s', async (host) => {
    const { port, requests } = await receiving(['elsewhere.example']);
    expect(await post(`https://${host}:${port}/`, { insecure: true })).toEqual(ARRIVED);
    expect(requests).toHaveLength(1);
  });

  it('checks certificates of an allowed address that is not local', async () => {
    const { port } = await receiving(['elsewhere.example']);
    // The unspecified address reaches this machine but is not a loopback address.
    const egress = new Egress(['0.0.0.0'], () => undefined);
    const { error } = await post(`https://0.0.0.0:${port}/`, { insecure: true }, egress);
    expect(error).toContain('is not trusted');
  });

  it('checks certificates of a name that resolves to a public address', async () => {
    const { port } = await receiving(['elsewhere.example']);
    const { error } = await post(`https://localhost:${port}/`, { insecure: true }, new PublicNames());
    expect(error).toContain('is not trusted');
  });

  it('makes one attempt if a local receiver does not respond', async () => {
    let connections = 0;
    const server = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    const { error } = await post(`https://127.0.0.1:${await listen(server)}/`, { insecure: true });
    expect(error).not.toBeNull();
    expect(connections).toBe(1);
  });

  it('allows no additional addresses', async () => {
    const rejected = await post('https://203.0.113.7/', { insecure: true });
    expect(rejected).toMatchObject({ status: null, failure: { code: 'egress' } });
  });
});
