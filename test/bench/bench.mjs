// npm run bench: prints measurements and their targets. They are ratios within one run and medians of several rounds.
// The exit code is always 0, because timings are not tests.
import { chosen } from './arguments.mjs';
import { commands } from './commands.mjs';
import { growth } from './growth.mjs';
import { initiate } from './initiate.mjs';
import { lists } from './lists.mjs';
import { watchMachine } from './machine.mjs';
import { memory, reload } from './memory.mjs';
import { startReport } from './report.mjs';
import { unmeasured } from './rows.mjs';
import { TARGETS } from './targets.mjs';
import { way } from './way.mjs';

const SECTIONS = { way, commands, initiate, growth, reload, lists, memory };

const choice = chosen(Object.keys(TARGETS));
if (choice.problem) {
  console.error(choice.problem);
} else {
  const describe = watchMachine();
  const report = startReport(choice);
  const rows = [];
  for (const name of choice.sections) {
    process.stderr.write(`measuring ${name} …\n`);
    const measured = await SECTIONS[name]().catch(({ message }) => {
      return Object.keys(TARGETS[name]).map((what) => unmeasured(what, message));
    });
    for (const row of measured) {
      rows.push({ section: name, ...row });
      report.row(row);
    }
  }
  report.end(rows, describe(rows));
}
