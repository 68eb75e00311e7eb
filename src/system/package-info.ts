import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** The version of this gateway-sim, as package.json has it. */
export const VERSION: string = manifest.version;

/** The state that new folders start with, as it comes with the package. */
export const packagedFixtures = (): string => packaged('fixtures/default.json');

/** A path of what comes with the package: its folders are beside `dist`, wherever the bundle put this code. */
export function packaged(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'fixtures', 'default.json')) && folder !== dirname(folder))
    folder = dirname(folder);
  return join(folder, name);
}
