import { resolve } from 'node:path';
import { isAnyAddress } from './contract/address.ts';
import type { Edge } from './http/edge.ts';
import { isSecure } from './options/resolve.ts';
import type { ResolvedOptions } from './options/table.ts';
import type { Identity } from './tls/identity.ts';
import type { Dialect } from './wire/dialect.ts';

interface FrontPlan {
  options: Pick<ResolvedOptions, 'tls' | 'tlsCert' | 'tlsKey' | 'host' | 'proxy'>;
  aliases: readonly string[];
  label: (name: 'tlsCert' | 'tlsKey') => string;
  /** The emulator's address, for messages. */
  url: () => string;
  dialect: Dialect;
  warn: (text: string) => void;
  onRejected: (host: string, why: string) => void;
}

/**
 * TLS and the proxy in front of the routes. Loaded only if one of them is used. Checks the certificate options before
 * anything is opened.
 *
 * @returns a function that builds the front, given the data folder (null in memory). It may throw `storage_failed`
 * @throws GatewayError `usage` for a certificate that cannot be used
 */
export async function planFront(plan: FrontPlan) {
  const { options, aliases, label, url, dialect, warn, onRejected } = plan;
  let identify = async (_dataDir: string | null): Promise<Identity | null> => null;
  if (isSecure(options)) {
    const { addressName, identityOf, namedPair } = await import('./tls/identity.ts');
    const { tlsCert, tlsKey, host } = options;
    const own = isAnyAddress(host) ? [] : [addressName(host)];
    const names = [...new Set(['localhost', '127.0.0.1', '::1', ...aliases, ...own])];
    const wanted = { tlsCert, tlsKey, names, label };
    const given = await namedPair(wanted);
    identify = (dataDir) => identityOf(given, wanted, dataDir);
  }
  return async (dataDir: string | null) => {
    const identity = await identify(dataDir);
    /** The certificate file that clients must trust; null for plain HTTP. */
    const tlsCa = identity && resolve(identity.caFile);
    const onUntrusted = (why: string) =>
      warn(`a client does not trust the certificate (${why}): make it trust ${tlsCa}`);
    const hosts = options.proxy ? aliases : null;
    let edge: Edge | undefined;
    if (identity || hosts) {
      const { createEdge } = await import('./http/edge.ts');
      const served = { credentials: identity, aliases: hosts };
      edge = createEdge({ ...served, url, dialect, onUntrusted, onRejected });
    }
    return { edge, tlsCa, notices: identity?.notices ?? [], remove: async () => identity?.remove?.() };
  };
}

/** Additional certificates to trust for receivers. @throws GatewayError `usage` for a file without certificates */
export async function readIpnCa(
  { ipnCa }: Pick<ResolvedOptions, 'ipnCa'>,
  label: (name: 'ipnCa') => string,
): Promise<string | undefined> {
  if (ipnCa === undefined) return undefined;
  const { readCertificates } = await import('./tls/identity.ts');
  return readCertificates(ipnCa, label('ipnCa'));
}
