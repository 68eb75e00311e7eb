import { createHash, X509Certificate } from 'node:crypto';
import { chmod, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  isLink,
  makeFolder,
  onFolder,
  readOwnFile,
  reason,
  replaceFile,
  unwritable,
} from '../system/files.ts';
import { makeTemporaryFolder, removeTemporaryFolder } from '../system/temporary-folder.ts';
import { type Identity, type Issued, isFor, issue } from './certificates.ts';

/** The folder of the `--tls` certificates, in the data folder. */
const FOLDER = 'tls';
const CA_FILE = 'ca.pem';
const CERT_FILE = 'cert.pem';
const KEY_FILE = 'key.pem';
/** Detects changed or copied files: their inode number and time cannot be known in advance. */
const MARK_FILE = 'made-in';

/** A start renews an authority that expires sooner than this. */
const RENEWED_BEFORE_MS = 14 * 24 * 3_600_000;

/**
 * The certificate of a data folder, from its own authority. Both are created again if they expire soon, are for other
 * names, or were not created here: a folder may come with a checkout, and another person may have its authority's key.
 *
 * @param dataDir absolute
 * @throws GatewayError `storage_failed`
 */
export async function storedAuthority(
  dataDir: string,
  names: readonly string[],
  now: number,
): Promise<Identity> {
  const folder = join(dataDir, FOLDER);
  const caFile = join(folder, CA_FILE);
  const stored = await readIssued(folder);
  const problem = typeof stored === 'string' ? stored : stored && outdated(stored, names, now);
  if (typeof stored === 'object' && problem === undefined) return { ...stored, caFile, notices: [] };
  const issued = issue(names, now);
  await onFolder(dataDir, async () => {
    if (await isLink(folder)) await rm(folder);
    await makeFolder(folder, 0o700);
    await write(join(folder, KEY_FILE), issued.key);
    await write(join(folder, CERT_FILE), issued.cert);
    await write(caFile, issued.ca);
    await write(join(folder, MARK_FILE), await markOf(folder, issued));
    // A web server that runs as another user may need to read it.
    await chmod(caFile, 0o644);
  });
  const notices =
    problem === undefined
      ? []
      : [`the local authority was replaced (${problem}): clients must trust ${caFile} again`];
  return { ...issued, caFile, notices };
}

/** Without the device number, which changes after a restart on some systems. */
async function markOf(folder: string, { ca, cert, key }: Issued): Promise<string> {
  const { ino, ctimeNs } = await stat(join(folder, KEY_FILE), { bigint: true });
  return createHash('sha256').update(`${ino} ${ctimeNs}\n${ca}${cert}${key}`).digest('hex');
}

async function write(path: string, text: string): Promise<void> {
  const file = await replaceFile(path, (file) => file.appendFile(text));
  await file.close();
}

/** The certificates in a folder, or why they are not used; undefined if the folder has none. */
async function readIssued(folder: string): Promise<Issued | string | undefined> {
  if (await isLink(folder)) return 'its folder is a link';
  const missing: string[] = [];
  const texts: string[] = [];
  for (const name of [CA_FILE, CERT_FILE, KEY_FILE, MARK_FILE]) {
    try {
      texts.push(await readOwnFile(join(folder, name), { isSecret: name === KEY_FILE }));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return `${name}: ${reason(error)}`;
      missing.push(name);
    }
  }
  if (missing.length) return texts.length ? `missing ${missing.join(', ')}` : undefined;
  const [ca = '', cert = '', key = '', mark] = texts;
  const issued = { ca, cert, key };
  return mark === (await markOf(folder, issued)) ? issued : 'the previous one was not created here';
}

/** Why a certificate is no longer used; undefined if it still is. */
function outdated({ cert }: Issued, names: readonly string[], now: number): string | undefined {
  const certificate = new X509Certificate(cert);
  if (!isFor(certificate, names)) return 'the names changed';
  if (Date.parse(certificate.validFrom) > now) return 'the previous one is not valid yet';
  const left = Date.parse(certificate.validTo) - now;
  return left < RENEWED_BEFORE_MS ? 'the previous one expires soon' : undefined;
}

/** An authority in its own folder, which others cannot read. `remove` or the end of the process removes the folder. */
export async function temporaryAuthority(names: readonly string[], now: number): Promise<Identity> {
  const { ca, ...issued } = issue(names, now);
  try {
    const folder = await makeTemporaryFolder();
    const caFile = join(folder, CA_FILE);
    await writeFile(caFile, ca, { mode: 0o600 });
    return { ...issued, caFile, notices: [], remove: () => removeTemporaryFolder(folder) };
  } catch (error) {
    throw unwritable(`the temporary folder ${tmpdir()}`, error);
  }
}
