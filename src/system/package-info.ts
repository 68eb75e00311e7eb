import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import manifest from '../../package.json' with { type: 'json' };

/** The version of this gateway-sim, as package.json has it. */
export const VERSION: string = manifest.version;

/** The state that new folders start with, as it comes with the package. */
export const packagedFixtures = (): string => packaged('fixtures/default.json');

/** What is known of the service interface, one observation a line, as it comes with the package. */
export const packagedManifest = (): string => packaged('fixtures/fidelity/manifest.jsonl');

/** The folder of the documentation, as it comes with the package. */
export const packagedDocs = (): string => packaged('src/docs');

/** A file that `init` writes for a test runner, as it comes with the package. */
export const packagedStarter = (name: string): string => packaged(`src/init/${name}`);

/** What leads a Node program to the emulator that goes through no proxy. */
export const packagedPreload = (): string => packaged('bin/alias-hosts.js');

/** A path of the package: its folders are beside `dist`, wherever the bundle put this code. */
function packaged(name: string): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'fixtures', 'default.json')) && folder !== dirname(folder))
    folder = dirname(folder);
  return join(folder, name);
}
