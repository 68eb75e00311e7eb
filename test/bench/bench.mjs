// npm run bench: the numbers that the design promises. Ratios within one run, medians of several rounds; they inform
// and never decide, so this always exits 0.
import { throughput, withManyPayments } from './initiate.mjs';
import { ipns } from './ipns.mjs';
import { packageSize, pageSize, startUp } from './start.mjs';

const SECTIONS = { throughput, withManyPayments, ipns, startUp, packageSize, pageSize };
const chosen = process.argv.slice(2);

console.log(`Node ${process.version}, ${process.platform} ${process.arch}\n`);
for (const [name, measure] of Object.entries(SECTIONS)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue;
  process.stderr.write(`measuring ${name} …\n`);
  try {
    for (const row of await measure()) print(row);
  } catch (error) {
    print({ what: name, measured: `not measured: ${error.message}`, target: '', met: null });
  }
}

function print({ what, measured, target, met }) {
  const mark = met === null ? '' : met ? 'ok' : 'MISSED';
  console.log(`${what.padEnd(52)}  ${measured.padEnd(28)}  ${target.padEnd(9)}  ${mark}`.trimEnd());
}
