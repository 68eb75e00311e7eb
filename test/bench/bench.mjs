// npm run bench: prints measurements and their targets. They are ratios within one run and medians of several rounds.
// The exit code is always 0, because timings are not tests.
import { chosen } from './arguments.mjs';
import { growth, million } from './growth.mjs';
import { initiate } from './initiate.mjs';
import { ipns } from './ipns.mjs';
import { watchMachine } from './machine.mjs';
import { memory, reload } from './memory.mjs';
import { packed, page } from './package.mjs';
import { startReport } from './report.mjs';
import { unmeasured } from './rows.mjs';
import { commands, library, start } from './start.mjs';
import { TARGETS } from './targets.mjs';

const SECTIONS = {
  initiate,
  growth,
  memory,
  reload,
  start,
  commands,
  library,
  ipns,
  package: packed,
  page,
  million,
};
/** Takes minutes, so it runs only on request. */
const LONG = ['million'];

const choice = chosen(Object.keys(TARGETS), LONG);
if (choice.problem) {
  console.error(choice.problem);
} else {
  const describe = watchMachine();
  const report = startReport(choice);
  const rows = [];
  for (const name of choice.sections) {
    process.stderr.write(`measuring ${name} …\n`);
    const measured = await SECTIONS[name]().catch(({ message }) => {
      const targets = Object.keys(TARGETS[name]);
      return (targets.length ? targets : [name]).map((what) => unmeasured(what, message));
    });
    for (const row of measured) {
      rows.push({ section: name, ...row });
      report.row(row);
    }
  }
  report.end(rows, describe(rows));
}
