// What the scripts of this folder need of the sources, as one module, so that each source is loaded once.
import { buildProgram } from '../src/cli/run.ts';
import '../src/audit/report.ts';
import '../src/contract/diagnosis.ts';
import '../src/http/control/routes.ts';

export { auditCases } from '../src/audit/audit.ts';
export { AUDIT_CLASSES } from '../src/audit/vocabulary.ts';
export { ERRORS } from '../src/contract/error.ts';
export { componentSchemas, querySchemas } from '../src/contract/json-schema.ts';
export { CHOICES, choicesOf, PROFILES } from '../src/contract/profiles.ts';
export { configurationSchema } from '../src/options/json-schema.ts';
export { EMULATOR_OPTIONS } from '../src/options/start-options.ts';

export const program = await buildProgram();
