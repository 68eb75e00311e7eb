import { usage } from '../contract/error.ts';
import { findMkcertPair, type GivenPair, readPair } from './given-pair.ts';
import { covers } from './names.ts';

/** A server's certificate with its key. */
export interface Identity {
  cert: string;
  key: string;
  /** The certificate file that clients must trust. */
  caFile: string;
  /** Notices about the certificate. */
  notices: readonly string[];
  /** Removes files outside the data folder. */
  remove: () => Promise<void>;
}

/** The options of an identity. */
export interface Wanted {
  tlsCert: string | undefined;
  tlsKey: string | undefined;
  /** The host names and addresses that clients use. */
  names: readonly string[];
  /** The name of an option in errors. */
  label: (name: 'tlsCert' | 'tlsKey') => string;
}

/** The certificate that the options name. @throws GatewayError `usage` if it cannot be used */
export async function namedPair({ tlsCert, tlsKey, label }: Wanted): Promise<GivenPair | null> {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert !== undefined && tlsKey !== undefined)
    return readPair(tlsCert, tlsKey, { cert: label('tlsCert'), key: label('tlsKey') });
  const [has, wants] =
    tlsCert === undefined ? (['tlsKey', 'tlsCert'] as const) : (['tlsCert', 'tlsKey'] as const);
  throw usage(`${label(has)} requires ${label(wants)}: a certificate works only with its key`);
}

/**
 * The identity of a server: the named pair, else an mkcert pair in the data or working folder, else a certificate of a
 * local authority.
 *
 * @param dataDir null in memory
 * @throws GatewayError `storage_failed`
 */
export async function identityOf(
  named: GivenPair | null,
  { names }: Wanted,
  dataDir: string | null,
): Promise<Identity> {
  const now = Date.now();
  const notices: string[] = [];
  const folders = [...(dataDir === null ? [] : [dataDir]), '.'];
  const found = named ? undefined : await findMkcertPair(folders, names, now, (why) => notices.push(why));
  if (found) notices.push(`TLS uses the mkcert pair ${found.certFile}; clients must trust ${found.caFile}`);
  const pair = named ?? found;
  if (pair) return { ...pair, notices: [...notices, ...noticesOn(pair, names, now)], remove: async () => {} };
  // Loaded only when needed.
  const { storedAuthority, temporaryAuthority } = await import('./authority.ts');
  const own =
    dataDir === null
      ? await temporaryAuthority(names, now)
      : { ...(await storedAuthority(dataDir, names, now)), remove: async () => {} };
  if (own.notice) notices.push(own.notice);
  return { ...own, notices };
}

function noticesOn({ certFile, leaf, issuer }: GivenPair, names: readonly string[], now: number): string[] {
  const notices: string[] = [];
  const missing = names.filter((name) => !covers(leaf, name));
  if (missing.length)
    notices.push(
      `the certificate ${certFile} does not cover ${missing.join(', ')}: clients will reject it for these names`,
    );
  if (Date.parse(leaf.validTo) <= now)
    notices.push(`the certificate ${certFile} expired at ${leaf.validTo}: clients will reject it`);
  if (issuer !== null)
    notices.push(`clients trust the certificate ${certFile} only if they trust its issuer, ${issuer}`);
  return notices;
}
