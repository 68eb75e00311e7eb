// npm run bench: prints measurements and their targets. They are ratios within one run and medians of several rounds.
// The exit code is always 0, because timings are not tests.
import { parseArgs } from 'node:util';
import { commands } from './commands.mjs';
import { growth } from './growth.mjs';
import { initiate } from './initiate.mjs';
import { lists } from './lists.mjs';
import { watchMachine } from './machine.mjs';
import { memory, reload } from './memory.mjs';
import { FORMS, startReport } from './report.mjs';
import { unmeasured } from './rows.mjs';
import { way } from './way.mjs';

const SECTIONS = { way, commands, initiate, growth, reload, lists, memory };

const { values, positionals } = parseArgs({ options: FORMS, allowPositionals: true });
const unknown = positionals.find((name) => !(name in SECTIONS));
if (unknown) {
  console.error(`There is no section "${unknown}": use ${Object.keys(SECTIONS).join(', ')}.`);
} else {
  const describe = watchMachine();
  const report = startReport(values);
  const rows = [];
  for (const [name, measure] of Object.entries(SECTIONS)) {
    if (positionals.length > 0 && !positionals.includes(name)) continue;
    process.stderr.write(`measuring ${name} …\n`);
    const measured = await measure().catch(({ message }) => [unmeasured(name, message)]);
    for (const row of measured) {
      rows.push({ section: name, ...row });
      report.row(row);
    }
  }
  report.end(rows, describe(rows));
}
