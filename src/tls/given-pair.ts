import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { createSecureContext } from 'node:tls';
import { type GatewayError, usage } from '../contract/error.ts';
import { readOwnFile, readText, reason } from '../store/files.ts';
import { covers } from './names.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The user's certificate with its key. */
export interface GivenPair {
  certFile: string;
  cert: string;
  key: string;
  /** The server's own certificate. */
  leaf: X509Certificate;
  /** The file that clients must trust: the certificate's own file if its issuer is unknown. */
  caFile: string;
  /** The issuer whose certificate is missing from the file; null if none is missing. */
  issuer: string | null;
}

/** The names of the two files in errors. */
interface PairLabels {
  cert: string;
  key: string;
}

/**
 * Reads a certificate and its key.
 *
 * @throws GatewayError `usage` for files that cannot be read, are of another kind, or do not belong together
 */
export async function readPair(certFile: string, keyFile: string, labels: PairLabels): Promise<GivenPair> {
  const cert = await read(certFile, labels.cert);
  const key = await read(keyFile, labels.key);
  return pairOf({ certFile, keyFile }, labels, { cert, key });
}

async function pairOf(
  { certFile, keyFile }: { certFile: string; keyFile: string },
  labels: PairLabels,
  { cert, key }: { cert: string; key: string },
): Promise<GivenPair> {
  const certificates = parsed(cert, certFile, labels.cert);
  const [leaf] = certificates;
  if (!leaf) throw noCertificate(certFile, labels.cert);
  const own = parsedKey(key, keyFile, labels.key);
  if (!leaf.checkPrivateKey(own)) {
    throw usage(
      `the key ${keyFile} (${labels.key}) does not belong to the certificate ${certFile} (${labels.cert}): use the key that the certificate was created for`,
    );
  }
  try {
    createSecureContext({ cert, key });
  } catch (error) {
    throw usage(`${labels.cert} cannot be used for TLS: ${(error as Error).message} (${certFile})`, {
      cause: error,
    });
  }
  const known = certificates.some((one) => isIssuedBy(one, one))
    ? certFile
    : await mkcertRootOf(certificates.at(-1) ?? leaf);
  const issuer = known === undefined ? leaf.issuer.replaceAll('\n', ', ') : null;
  return { certFile, cert, key, leaf, caFile: known ?? certFile, issuer };
}

/** The text of a file with certificates. @throws GatewayError `usage` */
export async function readCertificates(path: string, label: string): Promise<string> {
  const pem = await read(path, label);
  if (!parsed(pem, path, label).length) throw noCertificate(path, label);
  return pem;
}

async function read(path: string, label: string): Promise<string> {
  try {
    return await readText(path, { follows: true });
  } catch (error) {
    throw usage(`${label} cannot be read from ${path}: ${reason(error)}`, { cause: error });
  }
}

function noCertificate(path: string, label: string): GatewayError {
  return usage(
    `${label} must name a PEM file with a certificate, which starts with -----BEGIN CERTIFICATE----- (${path} has none)`,
  );
}

function parsed(pem: string, path: string, label: string): X509Certificate[] {
  try {
    return [...pem.matchAll(CERTIFICATE)].map(([text]) => new X509Certificate(text));
  } catch (error) {
    throw usage(`${label} cannot be used: the certificate in ${path} is damaged`, { cause: error });
  }
}

function parsedKey(pem: string, path: string, label: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (error) {
    if (/ENCRYPTED/.test(pem)) {
      throw usage(
        `${label} must name a key without a passphrase (${path} has one; openssl pkey -in ${path} -out key.pem removes it)`,
        { cause: error },
      );
    }
    throw usage(
      `${label} must name a PEM file with a private key, which starts with -----BEGIN PRIVATE KEY----- or similar (${path} has none)`,
      { cause: error },
    );
  }
}

/**
 * The mkcert pair in one of these folders, if it covers all names: `localhost.pem` and `localhost-key.pem`. With
 * further names, their number is in the file name: `localhost+2.pem`. The folder may come from an unknown source, and
 * anyone with the key of a trusted certificate can read the traffic. So the authority of this user's own mkcert must
 * have issued the pair.
 *
 * @param passedOver called with the reason for each pair that is not used
 */
export async function findMkcertPair(
  folders: readonly string[],
  names: readonly string[],
  now: number,
  passedOver: (why: string) => void,
): Promise<GivenPair | undefined> {
  for (const folder of new Set(folders.map((path) => resolve(path)))) {
    for (const file of (await readdir(folder).catch(() => [])).sort()) {
      if (!/^localhost(\+\d+)?\.pem$/.test(file)) continue;
      const certFile = join(folder, file);
      try {
        return await mkcertPair(certFile, names, now);
      } catch (error) {
        passedOver(`${certFile} is not used: ${(error as Error).message}`);
      }
    }
  }
  return undefined;
}

/** @throws Error for a pair that cannot be used */
async function mkcertPair(certFile: string, names: readonly string[], now: number): Promise<GivenPair> {
  const keyFile = certFile.replace(/\.pem$/, '-key.pem');
  const labels = { cert: 'the certificate', key: 'its key' };
  const cert = await readOurs(certFile, labels.cert);
  const key = await readOurs(keyFile, labels.key, true);
  const pair = await pairOf({ certFile, keyFile }, labels, { cert, key });
  const caFile = await mkcertRootOf(pair.leaf);
  if (caFile === undefined)
    throw new Error("it was not issued by this user's mkcert (CAROOT names its folder)");
  const missing = names.filter((name) => !covers(pair.leaf, name));
  if (missing.length) throw new Error(`it does not cover ${missing.join(', ')}`);
  if (Date.parse(pair.leaf.validTo) <= now) throw new Error('it expired');
  return { ...pair, caFile, issuer: null };
}

async function readOurs(path: string, label: string, isSecret = false): Promise<string> {
  try {
    return await readOwnFile(path, { isSecret });
  } catch (error) {
    throw usage(`${label} cannot be used from ${path}: ${reason(error)}`, { cause: error });
  }
}

/** The locations of mkcert's own certificate on Linux, macOS and Windows. Relative paths are ignored. */
function mkcertRoots(): string[] {
  const { CAROOT, XDG_DATA_HOME, LOCALAPPDATA } = process.env;
  const folders = [
    CAROOT,
    XDG_DATA_HOME && join(XDG_DATA_HOME, 'mkcert'),
    join(homedir(), '.local', 'share', 'mkcert'),
    join(homedir(), 'Library', 'Application Support', 'mkcert'),
    LOCALAPPDATA && join(LOCALAPPDATA, 'mkcert'),
  ];
  return folders.flatMap((folder) => (folder && isAbsolute(folder) ? [join(folder, 'rootCA.pem')] : []));
}

function isIssuedBy(certificate: X509Certificate, issuer: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

/** The file of mkcert's authority, if it issued this certificate. */
async function mkcertRootOf(certificate: X509Certificate): Promise<string | undefined> {
  for (const path of mkcertRoots()) {
    try {
      const root = new X509Certificate(await readText(path, { isOurs: 'or-of-root' }));
      if (isIssuedBy(certificate, root)) return path;
    } catch {
      // An unreadable authority, or one of another user, is ignored.
    }
  }
  return undefined;
}
