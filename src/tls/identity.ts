import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { isAnyAddress } from '../contract/address.ts';
import { usage } from '../contract/error.ts';
import type { ResolvedOptions } from '../options/start-options.ts';
import { readText, reason } from '../system/files.ts';
import type { Identity } from './certificates.ts';

/** How errors name an option. */
type Label = (name: 'tlsCert' | 'tlsKey') => string;

/** The user's certificate with its key. */
interface GivenPair {
  /** The file that clients must trust. */
  certFile: string;
  cert: string;
  key: string;
  /** The server's own certificate. */
  leaf: X509Certificate;
  /** The issuer whose certificate is missing from the file; null if none is missing. */
  issuer: string | null;
}

/**
 * Checks the options about the server's own certificate.
 *
 * @param aliases the host names that clients use for the gateway
 * @returns a function that finds or makes the certificate, given the data folder (null in memory): the named one, else one
 *   of a local authority. It may throw `storage_failed`
 * @throws GatewayError `usage` for a certificate that cannot be used
 */
export async function planIdentity(
  options: Pick<ResolvedOptions, 'tlsCert' | 'tlsKey' | 'host'>,
  aliases: readonly string[],
  label: Label,
): Promise<(dataDir: string | null) => Promise<Identity>> {
  const { host } = options;
  const own = isAnyAddress(host) ? [] : [addressName(host)];
  const names = [...new Set(['localhost', '127.0.0.1', '::1', ...aliases, ...own])];
  const pair = await namedPair(options, label);
  return async (dataDir) => {
    const now = Date.now();
    if (pair) return { ...pair, caFile: resolve(pair.certFile), notices: noticesOn(pair, names, now) };
    // Loaded only when needed.
    const { storedAuthority, temporaryAuthority } = await import('./authority.ts');
    return dataDir === null ? temporaryAuthority(names, now) : storedAuthority(dataDir, names, now);
  };
}

/**
 * The certificate that the options name.
 *
 * @throws GatewayError `usage` for files that cannot be read, are of another kind, or do not belong together
 */
export async function namedPair(
  { tlsCert, tlsKey }: Pick<ResolvedOptions, 'tlsCert' | 'tlsKey'>,
  label: Label,
): Promise<GivenPair | null> {
  if (tlsCert === undefined && tlsKey === undefined) return null;
  if (tlsCert !== undefined && tlsKey !== undefined)
    return pairOf(await named(tlsCert, label('tlsCert')), await named(tlsKey, label('tlsKey')));
  const [has, wants] =
    tlsCert === undefined ? (['tlsKey', 'tlsCert'] as const) : (['tlsCert', 'tlsKey'] as const);
  throw usage(`${label(has)} requires ${label(wants)}: a certificate works only with its key`);
}

/** The text of a file with certificates. @throws GatewayError `usage` */
export async function readCertificates(path: string, label: string): Promise<string> {
  const file = await named(path, label);
  certificatesIn(file);
  return file.text;
}

interface PemFile {
  path: string;
  /** Its name in errors. */
  label: string;
  text: string;
}

async function named(path: string, label: string): Promise<PemFile> {
  try {
    return { path, label, text: await readText(path, { follows: true }) };
  } catch (error) {
    throw usage(`${label} cannot be read from ${path}: ${reason(error)}`, { cause: error });
  }
}

async function pairOf(certificate: PemFile, privateKey: PemFile): Promise<GivenPair> {
  const { path: certFile, text: cert, label } = certificate;
  const key = privateKey.text;
  const certificates = certificatesIn(certificate);
  const [leaf] = certificates;
  if (!leaf.checkPrivateKey(keyIn(privateKey))) {
    throw usage(
      `the key ${privateKey.path} (${privateKey.label}) does not belong to the certificate ${certFile} (${label}): use the key that the certificate was created for`,
    );
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw usage(`${label} cannot be used for TLS: ${(error as Error).message} (${certFile})`, {
      cause: error,
    });
  }
  const isWhole = certificates.some((one) => one.checkIssued(one) && one.verify(one.publicKey));
  const issuer = isWhole ? null : leaf.issuer.replaceAll('\n', ', ');
  return { certFile, cert, key, leaf, issuer };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

function certificatesIn({ path, label, text }: PemFile): [X509Certificate, ...X509Certificate[]] {
  const [first, ...others] = text.match(CERTIFICATE) ?? [];
  if (first === undefined) {
    throw usage(
      `${label} must name a PEM file with a certificate, which starts with -----BEGIN CERTIFICATE----- (${path} has none)`,
    );
  }
  try {
    return [new X509Certificate(first), ...others.map((one) => new X509Certificate(one))];
  } catch (error) {
    throw usage(`${label} cannot be used: the certificate in ${path} is damaged`, { cause: error });
  }
}

function keyIn({ path, label, text }: PemFile): KeyObject {
  try {
    return createPrivateKey(text);
  } catch (cause) {
    const why = /ENCRYPTED/.test(text)
      ? `a key without a passphrase (${path} has one; openssl pkey -in ${path} -out key.pem removes it)`
      : `a PEM file with a private key, which starts with -----BEGIN PRIVATE KEY----- or similar (${path} has none)`;
    throw usage(`${label} must name ${why}`, { cause });
  }
}

/** The names that a certificate does not cover, as a text; empty if none. */
function missingIn(certificate: X509Certificate, names: readonly string[]): string {
  const isCovered = (name: string) => (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name));
  return names.filter((name) => isCovered(name) === undefined).join(', ');
}

function noticesOn({ certFile, leaf, issuer }: GivenPair, names: readonly string[], now: number): string[] {
  const notices: string[] = [];
  const missing = missingIn(leaf, names);
  if (missing)
    notices.push(
      `the certificate ${certFile} does not cover ${missing}: clients will reject it for these names`,
    );
  if (Date.parse(leaf.validTo) <= now)
    notices.push(`the certificate ${certFile} expired at ${leaf.validTo}: clients will reject it`);
  if (issuer !== null)
    notices.push(`clients trust the certificate ${certFile} only if they trust its issuer, ${issuer}`);
  return notices;
}

/** An IPv6 address in its shortest form, even if it contains an IPv4 address. Other names are returned unchanged. */
export function addressName(address: string): string {
  const [plain = ''] = address.split('%');
  return isIPv6(plain) ? new URL(`http://[${plain}]`).hostname.slice(1, -1) : address;
}
