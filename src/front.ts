import { resolve } from 'node:path';
import { isAnyAddress } from './contract/address.ts';
import type { Edge } from './http/edge.ts';
import { isSecure } from './options/base-url.ts';
import type { ResolvedOptions } from './options/table.ts';
import type { Identity } from './tls/identity.ts';
import type { Dialect } from './wire/dialect.ts';

/** What stands in front of the routes: TLS and the proxy. Where there is neither, none of it is loaded. */
export interface Front {
  edge: Edge | undefined;
  /** The file that clients trust; null where plain http is spoken. */
  tlsCa: string | null;
  /** What is to be known of the certificate. */
  notices: readonly string[];
  /** Takes away what lies outside the data folder. */
  remove: () => Promise<void>;
}

interface FrontPlan {
  options: Pick<ResolvedOptions, 'tls' | 'tlsCert' | 'tlsKey' | 'host' | 'proxy'>;
  aliases: readonly string[];
  label: (name: 'tlsCert' | 'tlsKey') => string;
  /** Where the emulator itself is, for messages. */
  url: () => string;
  dialect: Dialect;
  warn: (text: string) => void;
}

/**
 * Checks what the options name before anything is opened.
 *
 * @returns builds it, given the data folder (null in memory)
 * @throws GatewayError `usage` for a certificate that cannot be used; building may throw `storage_failed`
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

/** The certificates that receivers are trusted by, too. @throws GatewayError `usage` for a file that has none */
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
  const { Edge } = await import('./http/edge.ts');
  const onUntrusted = (why: string) =>
    warn(`a client does not trust the certificate (${why}): let it trust ${tlsCa}`);
  const edge = new Edge({
    credentials: identity,
    aliases: options.proxy ? aliases : null,
    url,
    dialect,
    onUntrusted,
  });
  return { edge, tlsCa, notices, remove };
}
