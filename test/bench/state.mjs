// Creates states with many payments from the output of this build for one payment.
import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import { initiateRequest, openLane, reference } from './load.mjs';
import { inFolder, stateFolder, withSim } from './processes.mjs';

/** Distinguishes these payments from those that a load initiates. */
const PREFIX = 'stock';
const BATCH = 1_000;

/**
 * Creates a state with many payments in an unused folder. It repeats the lines of db.json for one payment, with different
 * ids.
 */
export async function makeState(folder, count) {
  const lines = await inFolder(async (scratch) => {
    await withSim(scratch, makeOne);
    return (await readFile(join(stateFolder(scratch), 'db.json'), 'utf8')).split('\n');
  });
  await withSim(folder, () => {});
  const file = createWriteStream(join(stateFolder(folder), 'db.json'));
  for (const part of multiplied(lines, count)) {
    if (!file.write(part)) await new Promise((resolve) => file.once('drain', resolve));
  }
  file.end();
  await finished(file);
  // The next start treats the state as an edited file and checks it more strictly. That start must not be measured.
  await withSim(folder, () => {});
}

async function makeOne({ port, publicKey }) {
  const lane = await openLane(port);
  await lane.ask(initiateRequest({ port, publicKey, prefix: PREFIX }));
  lane.close();
}

/** Makes sure that the emulator accepted the whole state. */
export async function requireState({ url }, count) {
  const answer = await fetch(`${url}/_sim/payments/${reference(count - 1, PREFIX)}`);
  if (answer.status !== 200) throw new Error(`the state of ${count} payments was not accepted`);
}

function* multiplied(lines, count) {
  const own = new RegExp(`\\b(?:pay_[0-9a-z]+|${reference(0, PREFIX)})\\b`, 'g');
  for (const [index, line] of lines.entries()) {
    const end = index < lines.length - 1 ? '\n' : '';
    if (!line.includes('"id":') || line.search(own) < 0) {
      yield line + end;
      continue;
    }
    // Alternating texts and ids, which are joined once per copy.
    const texts = line.split(own);
    const names = line.match(own);
    for (let from = 0; from < count; from += BATCH) {
      let part = from === 0 ? '' : ',\n';
      for (let number = from; number < Math.min(from + BATCH, count); number++) {
        if (number > from) part += ',\n';
        part += texts[0];
        for (let at = 0; at < names.length; at++) part += nameOf(names[at], number) + texts[at + 1];
      }
      yield part;
    }
    yield end;
  }
}

/** The id or identifier of a copy, which is the same in every line. */
function nameOf(name, number) {
  if (name.startsWith(PREFIX)) return reference(number, PREFIX);
  const digits = number.toString(36).padStart(8, '0');
  return name.slice(0, -digits.length) + digits;
}
