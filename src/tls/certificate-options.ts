import { isAnyAddress } from '../contract/address.ts';
import { isSecure } from '../options/resolve.ts';
import type { ResolvedOptions } from '../options/start-options.ts';
import type { Identity } from './identity.ts';

/*
 * The options about certificates. The code that reads certificates is loaded only if one of them is used.
 */

/**
 * Checks the options about the server's own certificate.
 *
 * @param aliases the host names that clients use for the gateway
 * @returns a function that finds or makes the certificate, given the data folder (null in memory). It returns null for
 *   plain HTTP and may throw `storage_failed`
 * @throws GatewayError `usage` for a certificate that cannot be used
 */
export async function planIdentity(
  options: Pick<ResolvedOptions, 'tls' | 'tlsCert' | 'tlsKey' | 'host'>,
  aliases: readonly string[],
  label: (name: 'tlsCert' | 'tlsKey') => string,
): Promise<(dataDir: string | null) => Promise<Identity | null>> {
  if (!isSecure(options)) return async () => null;
  const { addressName, identityOf, namedPair } = await import('./identity.ts');
  const { tlsCert, tlsKey, host } = options;
  const own = isAnyAddress(host) ? [] : [addressName(host)];
  const names = [...new Set(['localhost', '127.0.0.1', '::1', ...aliases, ...own])];
  const wanted = { tlsCert, tlsKey, names, label };
  const given = await namedPair(wanted);
  return (dataDir) => identityOf(given, wanted, dataDir);
}

/** Additional certificates to trust for receivers. @throws GatewayError `usage` for a file without certificates */
export async function readIpnCa(
  { ipnCa }: Pick<ResolvedOptions, 'ipnCa'>,
  label: (name: 'ipnCa') => string,
): Promise<string | undefined> {
  if (ipnCa === undefined) return undefined;
  const { readCertificates } = await import('./identity.ts');
  return readCertificates(ipnCa, label('ipnCa'));
}
