import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issue } from '../../src/tls/certificates.ts';

/** The names that every certificate of a test is for, unless it says otherwise. */
export const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];

/** Files with a certificate, that of its issuer behind it, and its key. */
export interface PairFiles {
  cert: string;
  key: string;
  ca: string;
}

/** Writes `<name>.pem`, `<name>-key.pem` and `<name>-ca.pem`. @param now when it is issued */
export async function writePair(
  folder: string,
  name: string,
  names: readonly string[] = LOOPBACK_NAMES,
  now = Date.now(),
): Promise<PairFiles> {
  const issued = issue(names, now);
  const files = {
    cert: join(folder, `${name}.pem`),
    key: join(folder, `${name}-key.pem`),
    ca: join(folder, `${name}-ca.pem`),
  };
  await writeFile(files.cert, issued.cert + issued.ca);
  await writeFile(files.key, issued.key);
  await writeFile(files.ca, issued.ca);
  return files;
}
