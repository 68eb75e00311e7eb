// npm run bench: the numbers that the design promises. Ratios within one run, medians of several rounds; they inform
// and never decide, so this always exits 0.
import { throughput, withManyPayments } from './initiate.mjs';
import { ipns } from './ipns.mjs';
import { packageSize, pageSize, startUp } from './start.mjs';

const SECTIONS = { throughput, withManyPayments, ipns, startUp, packageSize, pageSize };
const chosen = process.argv.slice(2);

const rows = [];
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stderr.write(`measuring ${name} …\n`);
  try {
    rows.push(...(await measure()));
  } catch (error) {
    rows.push({ what: name, measured: `not measured: ${error.message}`, target: '', met: null });
  }
}

const marks = { true: 'ok', false: 'MISSED', null: '' };
const cells = rows.map(({ what, measured, target, met }) => [what, measured, target, marks[met]]);
const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column].length)));
console.log(`Node ${process.version}, ${process.platform} ${process.arch}\n`);
for (const row of cells)
  console.log(
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd(),
  );
