// npm run bench: the numbers that the design promises. Ratios within one run, medians of several rounds. They are for
// information only, so this always exits 0.
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
/** Takes minutes, so it only runs on request. */
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
