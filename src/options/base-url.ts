import { urlOf } from '../contract/address.ts';
import type { ResolvedOptions } from './table.ts';

/** Whether https is spoken. */
export function isSecure({
  tls,
  tlsCert,
  tlsKey,
}: Pick<ResolvedOptions, 'tls' | 'tlsCert' | 'tlsKey'>): boolean {
  return tls || tlsCert !== undefined || tlsKey !== undefined;
}

/** The address to reach an emulator at that listens on this port. */
export function ownUrlOf(options: ResolvedOptions, port: number): string {
  return urlOf(options.host, port, isSecure(options));
}

/** The address that its checkout URLs are built on. */
export function baseUrlOf(options: ResolvedOptions, port = options.port): string {
  return options.publicUrl?.replace(/\/+$/, '') ?? ownUrlOf(options, port);
}

/** Paths under which the routes are served, too: those of --public-url and --host-alias, for clients with a base of their own. */
export function basePathsOf({
  publicUrl,
  hostAlias,
}: Pick<ResolvedOptions, 'publicUrl' | 'hostAlias'>): string[] {
  const ofPublicUrl = publicUrl === undefined ? '' : new URL(publicUrl).pathname;
  const ofAliases = hostAlias.map((alias) => /\/.*$/.exec(alias)?.[0] ?? '');
  const paths = [ofPublicUrl, ...ofAliases].map((path) => path.replace(/\/+$/, ''));
  return [...new Set(paths.filter(Boolean))];
}
