import { resolve } from 'node:path';
import { isAnyAddress } from './contract/address.ts';
import type { Edge } from './http/edge.ts';
import { isSecure } from './options/base-url.ts';
import type { ResolvedOptions } from './options/table.ts';
import type { Identity } from './tls/identity.ts';
import type { Dialect } from './wire/dialect.ts';

/** TLS and the proxy in front of the routes. Loaded only if one of them is used. */
export interface Front {
  edge: Edge | undefined;
  /** The certificate file that clients must trust; null for plain HTTP. */
  tlsCa: string | null;
  /** Notices about the certificate. */
  notices: readonly string[];
  /** Removes files outside the data folder. */
  remove: () => Promise<void>;
}

interface FrontPlan {
  options: Pick<ResolvedOptions, 'tls' | 'tlsCert' | 'tlsKey' | 'host' | 'proxy'>;
  aliases: readonly string[];
  label: (name: 'tlsCert' | 'tlsKey') => string;
  /** The emulator's address, for messages. */
  url: () => string;
  dialect: Dialect;
  warn: (text: string) => void;
}

/**
 * Checks the certificate options before anything is opened.
 *
 * @returns a function that builds the front, given the data folder (null in memory). It may throw `storage_failed`
 * @throws GatewayError `usage` for a certificate that cannot be used
 */
export async function planFront(plan: FrontPlan): Promise<(dataDir: string | null) => Promise<Front>> {
  const { options, aliases, label } = plan;
  if (!isSecure(options)) return () => frontOf(plan, null);
  const { addressName } = await import('./tls/names.ts');
  const { identityOf, namedPair } = await import('./tls/identity.ts');
  const { tlsCert, tlsKey, host } = options;
  const names = new Set([
    'localhost',
    '127.0.0.1',
    '::1',
    ...aliases,
    ...(isAnyAddress(host) ? [] : [addressName(host)]),
  ]);
  const wanted = { tlsCert, tlsKey, names: [...names], label };
  const named = await namedPair(wanted);
  return async (dataDir) => frontOf(plan, await identityOf(named, wanted, dataDir));
}

/** Additional certificates to trust for receivers. @throws GatewayError `usage` for a file without certificates */
export async function readIpnCa(
  { ipnCa }: Pick<ResolvedOptions, 'ipnCa'>,
  label: (name: 'ipnCa') => string,
): Promise<string | undefined> {
  if (ipnCa === undefined) return undefined;
  const { readCertificates } = await import('./tls/given-pair.ts');
  return readCertificates(ipnCa, label('ipnCa'));
}

async function frontOf(plan: FrontPlan, identity: Identity | null): Promise<Front> {
  const { options, aliases, url, dialect, warn } = plan;
  const { notices = [], remove = async () => {} } = identity ?? {};
  const tlsCa = identity && resolve(identity.caFile);
  if (!identity && !options.proxy) return { edge: undefined, tlsCa, notices, remove };
  const { createEdge } = await import('./http/edge.ts');
  const onUntrusted = (why: string) =>
    warn(`a client does not trust the certificate (${why}): make it trust ${tlsCa}`);
  const edge = createEdge({
    credentials: identity,
    aliases: options.proxy ? aliases : null,
    url,
    dialect,
    onUntrusted,
  });
  return { edge, tlsCa, notices, remove };
}
