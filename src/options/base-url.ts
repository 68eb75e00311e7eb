import { urlOf } from '../contract/address.ts';
import type { ResolvedOptions } from './table.ts';

/** Whether the emulator serves HTTPS. */
export function isSecure({
  tls,
  tlsCert,
  tlsKey,
}: Pick<ResolvedOptions, 'tls' | 'tlsCert' | 'tlsKey'>): boolean {
  return tls || tlsCert !== undefined || tlsKey !== undefined;
}

/** The address of an emulator that listens on this port. */
export function ownUrlOf(options: ResolvedOptions, port: number): string {
  return urlOf(options.host, port, isSecure(options));
}

/** The base of its checkout URLs. */
export function baseUrlOf(options: ResolvedOptions, port = options.port): string {
  return options.publicUrl?.replace(/\/+$/, '') ?? ownUrlOf(options, port);
}

/** Additional base paths of the routes, from --public-url and --host-alias. */
export function basePathsOf({
  publicUrl,
  hostAlias,
}: Pick<ResolvedOptions, 'publicUrl' | 'hostAlias'>): string[] {
  const ofPublicUrl = publicUrl === undefined ? '' : new URL(publicUrl).pathname;
  const ofAliases = hostAlias.map((alias) => /\/.*$/.exec(alias)?.[0] ?? '');
  const paths = [ofPublicUrl, ...ofAliases].map((path) => path.replace(/\/+$/, ''));
  return [...new Set(paths.filter(Boolean))];
}
