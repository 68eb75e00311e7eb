import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** The version of this gateway-sim, as package.json has it. */
export const VERSION: string = manifest.version;

/** The fixtures that come with the package: the folder beside `dist`, wherever the bundle put this code. */
export function packagedFixtures(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'fixtures', 'default.json')) && folder !== dirname(folder))
    folder = dirname(folder);
  return join(folder, 'fixtures', 'default.json');
}
