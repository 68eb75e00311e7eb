import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { issue } from '../../src/tls/certificates.ts';

/** The default host names in a test certificate. */
export const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '::1'];

/** Files with a certificate, its key, and the certificate of its issuer. */
export interface PairFiles {
  cert: string;
  key: string;
  ca: string;
}

/** Writes `<name>.pem`, `<name>-key.pem` and `<name>-ca.pem`. @param now the time of issue */
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
  await writeFile(files.key, issued.key, { mode: 0o600 });
  await writeFile(files.ca, issued.ca);
  return files;
}
