import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** The version of this gateway-sim, from package.json. */
export const VERSION: string = manifest.version;

/** The path of a file in the package. Its folders are next to `dist`, wherever the bundle put this code. */
export function packaged(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'fixtures', 'default.json')) && folder !== dirname(folder))
    folder = dirname(folder);
  return join(folder, name);
}
