// What the scripts of this folder need of the sources, as one module, so that each source is loaded once.
import { buildProgram, COMMANDS } from '../src/cli/run.ts';
import '../src/http/control/routes.ts';

export { auditCases } from '../src/audit/audit.ts';
export { AREAS } from '../src/conform/manifest.ts';
export { AUDIT_CLASSES } from '../src/contract/audit.ts';
export { ERRORS, kebab } from '../src/contract/error.ts';
export { componentSchemas, querySchemas } from '../src/contract/json-schema.ts';
export { CHOICES, choicesOf, PROFILES } from '../src/contract/profiles.ts';
export { librarySchema } from '../src/options/json-schema.ts';
export { environmentName } from '../src/options/resolve.ts';
export { START_OPTIONS } from '../src/options/start-options.ts';
export { manifestLines } from '../src/system/manifest-lines.ts';

export const program = await buildProgram();
/** The declared commands and groups by their first word. */
export const declarations = await Promise.all(
  Object.entries(COMMANDS).map(async ([word, load]) => [word, await load()] as const),
);
