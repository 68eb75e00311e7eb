// Fills the marked parts of the pages in src/docs from the program.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { importSources } from './assets.mjs';
import { filled } from './parts.mjs';

const sources = await importSources();
const printed = execFileSync(process.execPath, ['bin/gateway-sim.js', 'openapi'], { maxBuffer: 2 ** 26 });
const openapi = JSON.parse(printed);
for (const name of readdirSync('src/docs', { recursive: true }).filter((name) => name.endsWith('.md'))) {
  const path = join('src/docs', name);
  writeFileSync(path, filled(readFileSync(path, 'utf8'), sources, openapi));
}
