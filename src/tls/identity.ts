import { GatewayError } from '../contract/error.ts';
import { findMkcertPair, type GivenPair, readPair } from './given-pair.ts';
import { covers } from './names.ts';

/** By what a server shows who it is. */
export interface Identity {
  cert: string;
  key: string;
  /** The file that clients trust. */
  caFile: string;
  /** What is to be known of it. */
  notices: readonly string[];
  /** Takes away what lies outside the data folder. */
  remove: () => Promise<void>;
}

/** What it is to be made of. */
export interface Wanted {
  tlsCert: string | undefined;
  tlsKey: string | undefined;
  /** The host names and addresses that clients come by. */
  names: readonly string[];
  /** What to call an option in an error. */
  label: (name: 'tlsCert' | 'tlsKey') => string;
}

/** The certificate that the options name. @throws GatewayError `usage` when it cannot be used */
export async function namedPair({ tlsCert, tlsKey, label }: Wanted): Promise<GivenPair | null> {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert !== undefined && tlsKey !== undefined)
    return readPair(tlsCert, tlsKey, { cert: label('tlsCert'), key: label('tlsKey') });
  const [has, wants] =
    tlsCert === undefined ? (['tlsKey', 'tlsCert'] as const) : (['tlsCert', 'tlsKey'] as const);
  throw new GatewayError(
    'usage',
    `${label(has)} needs ${label(wants)} beside it: a certificate works only with its key`,
  );
}

/**
 * The identity of a server: the pair that was named, else one that mkcert made, in the data folder or the working one,
 * else one of an authority of our own.
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
  if (found) notices.push(`TLS uses the pair of mkcert ${found.certFile}, trusted by ${found.caFile}`);
  const pair = named ?? found;
  if (pair) return { ...pair, notices: [...notices, ...noticesOn(pair, names, now)], remove: async () => {} };
  // What writes certificates is loaded only here.
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
    notices.push(`the certificate ${certFile} is not for ${missing.join(', ')}: clients refuse it there`);
  if (Date.parse(leaf.validTo) <= now)
    notices.push(`the certificate ${certFile} expired at ${leaf.validTo}: clients refuse it`);
  if (issuer !== null)
    notices.push(`the certificate ${certFile} is trusted by who trusts its issuer, ${issuer}`);
  return notices;
}
