import { X509Certificate } from 'node:crypto';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onFolder, replaceFile, unwritable } from '../store/files.ts';
import { type Issued, issue } from './certificates.ts';
import { isKeyOf, namesOf } from './pem.ts';
import { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.ts';

/** Where the certificates of `--tls` lie, in the data folder. */
const FOLDER = 'tls';
const CA_FILE = 'ca.pem';
const CERT_FILE = 'cert.pem';
const KEY_FILE = 'key.pem';

/** An authority that ends sooner than this is renewed by a start. */
const RENEWED_BEFORE_MS = 14 * 24 * 3_600_000;

/** What a local authority issued, and the file with its own certificate. */
export interface Local extends Omit<Issued, 'ca'> {
  caFile: string;
  /** What a user who trusts the former one should know. */
  notice: string | null;
}

/**
 * The certificate of a data folder, from its own authority. Both are made anew when they are about to expire, or are
 * for other names.
 *
 * @throws GatewayError `storage_failed`
 */
export async function storedAuthority(
  dataDir: string,
  names: readonly string[],
  now: number,
): Promise<Local> {
  const folder = join(dataDir, FOLDER);
  const caFile = join(folder, CA_FILE);
  const stored = await readIssued(folder);
  if (stored && !outdated(stored, names, now)) {
    await onFolder(dataDir, () => chmod(join(folder, KEY_FILE), 0o600));
    return { ...stored, caFile, notice: null };
  }
  const issued = issue(names, now);
  await onFolder(dataDir, async () => {
    await mkdir(folder, { recursive: true });
    await write(join(folder, KEY_FILE), issued.key);
    await write(join(folder, CERT_FILE), issued.cert);
    await write(caFile, issued.ca);
    // Another user's web server may have to trust it.
    await chmod(caFile, 0o644);
  });
  const notice = stored
    ? `the local authority is new (${outdated(stored, names, now)}): what trusts the former one must trust ${caFile} again`
    : null;
  return { ...issued, caFile, notice };
}

async function write(path: string, text: string): Promise<void> {
  const file = await replaceFile(path, (file) => file.appendFile(text));
  await file.close();
}

async function readIssued(folder: string): Promise<Issued | undefined> {
  try {
    const read = (name: string) => readFile(join(folder, name), 'utf8');
    const [ca, cert, key] = await Promise.all([read(CA_FILE), read(CERT_FILE), read(KEY_FILE)]);
    const isWhole = isKeyOf(key, cert) && new X509Certificate(cert).verify(new X509Certificate(ca).publicKey);
    return isWhole ? { ca, cert, key } : undefined;
  } catch {
    // Nothing there, or nothing of use: it is made anew.
    return undefined;
  }
}

/** Why a certificate does not do any more; undefined when it does. */
function outdated({ cert }: Issued, names: readonly string[], now: number): string | undefined {
  const certificate = new X509Certificate(cert);
  if (namesOf(certificate).sort().join() !== [...names].sort().join()) return 'the names changed';
  const left = Date.parse(certificate.validTo) - now;
  return left < RENEWED_BEFORE_MS ? 'the former one expires' : undefined;
}

/** An authority in a folder of its own that others cannot read; `remove` takes it away, and so does the end of the process. */
export async function temporaryAuthority(
  names: readonly string[],
  now: number,
): Promise<Local & { remove: () => Promise<void> }> {
  const { ca, ...issued } = issue(names, now);
  try {
    const folder = await makeTemporaryFolder();
    const caFile = join(folder, CA_FILE);
    await writeFile(caFile, ca, { mode: 0o600 });
    return { ...issued, caFile, notice: null, remove: () => removeTemporaryFolder(folder) };
  } catch (error) {
    throw unwritable(`the temporary folder ${tmpdir()}`, error);
  }
}
