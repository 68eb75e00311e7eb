import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GatewayError } from '../../../src/contract/error.ts';
import { COLLECTION_NAMES } from '../../../src/contract/vocabulary.ts';
import type { Snapshot } from '../../../src/store/snapshot.ts';
import { Store } from '../../../src/store/store.ts';
import { temporaryFolder } from '../../helpers/folder.ts';
import { fullSnapshot, records, wallet } from '../../helpers/records.ts';
import { type Budget, trial } from '../trial.ts';

type Files = Readonly<Record<'db.json' | 'journal.jsonl', Buffer>>;

/** How many places in a file a release run changes. */
const SHORT_STEPS = 12;
/** The distance between two changed places. */
const stepIn = ({ length }: Buffer, { short, part }: Budget) =>
  short ? Math.ceil(length / SHORT_STEPS) : Math.round(1 / part);

const FILES = ['db.json', 'journal.jsonl'] as const;

/** Files after a kill, and the state after each line of the journal. The first line changes nothing. */
interface Specimen {
  files: Files;
  states: string[];
}

const textOf = (snapshot: Snapshot) => JSON.stringify(snapshot);
const openAt = (folder: string) => Store.open({ folder, fsync: false }, async () => records());

function read(folder: string): Files {
  const [db, journal] = FILES.map((name) => readFileSync(join(folder, name)));
  return { 'db.json': db ?? Buffer.of(), 'journal.jsonl': journal ?? Buffer.of() };
}

/** Creates a folder whose files have every kind of record and line. @param seed makes its content unique */
async function specimen(seed: string, stops = 0): Promise<Specimen> {
  const folder = await temporaryFolder();
  for (let stop = 0; stop < stops; stop++) {
    const store = await openAt(folder);
    await store.commit(() => ({ change: { wallets: [wallet({ id: `stop-${stop}` })] }, result: null }));
    await store.close();
  }
  const store = await openAt(folder);
  const full = fullSnapshot();
  // This state is in db.json.
  await store.replace({ ...full, wallets: [...full.wallets, wallet({ id: seed, holder: 'Zoë 😀' })] });
  const states = [textOf(store.snapshot())];
  const add = async (work: Promise<unknown>) => {
    await work;
    states.push(textOf(store.snapshot()));
  };
  for (const name of COLLECTION_NAMES)
    await add(store.commit(() => ({ change: { [name]: full[name] }, result: null })));
  await add(store.commit(() => ({ change: {}, result: null })));
  await add(store.commit(() => ({ change: { wallets: [wallet({ id: `${seed}-last` })] }, result: null })));
  const files = read(folder);
  await store.close();
  return { files, states };
}

/** Opens changed files in a folder of its own. */
class Bench {
  readonly #folder: string;
  readonly #budget: Budget;

  constructor(folder: string, budget: Budget) {
    this.#folder = folder;
    this.#budget = budget;
  }

  /** @param allowed the states that may result if the files are not rejected */
  async try(what: string, files: Files, allowed: readonly string[]): Promise<void> {
    if (this.#budget.signal.aborted) return;
    for (const name of FILES) writeFileSync(join(this.#folder, name), files[name]);
    writeFileSync(join(this.#folder, 'journal.needed'), '');
    try {
      const store = await openAt(this.#folder);
      const state = textOf(store.snapshot());
      await store.close();
      if (!allowed.includes(state)) this.#budget.fail('lost', `${what}: accepted as a different state`);
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'state_damaged' || !error.hint)
        this.#budget.fail('ended', `${what}: ${error}`);
      const left = read(this.#folder);
      if (!FILES.every((name) => left[name].equals(files[name])))
        this.#budget.fail('lost', `${what}: rejected, but the files changed`);
    }
    this.#budget.cases();
  }
}

const linesOf = (bytes: Buffer) => {
  const starts = [0];
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
  return starts.slice(1).map((end, index) => bytes.subarray(starts[index], end));
};

const spliced = (bytes: Buffer, at: number, removed: number, ...added: number[]) =>
  Buffer.concat([bytes.subarray(0, at), Buffer.from(added), bytes.subarray(at + removed)]);

/** Ways to change one byte. */
const CHANGES: Record<string, (bytes: Buffer, at: number, budget: Budget) => Buffer> = {
  'a bit flipped': (bytes, at) => spliced(bytes, at, 1, (bytes[at] ?? 0) ^ 1),
  'another bit flipped': (bytes, at, budget) =>
    spliced(bytes, at, 1, (bytes[at] ?? 0) ^ (1 << budget.below(8))),
  'replaced by a newline': (bytes, at) => spliced(bytes, at, 1, 0x0a),
  'replaced by a digit': (bytes, at, budget) => spliced(bytes, at, 1, 0x30 + budget.below(10)),
  removed: (bytes, at) => spliced(bytes, at, 1),
  duplicated: (bytes, at) => spliced(bytes, at, 0, bytes[at] ?? 0),
};

/** Changes every byte of a file in each way. */
async function everyByte(bench: Bench, name: keyof Files, { files, states }: Specimen, budget: Budget) {
  const bytes = files[name];
  const step = stepIn(bytes, budget);
  for (let at = budget.below(step); at < bytes.length; at += step) {
    for (const [what, change] of Object.entries(CHANGES)) {
      const changed = change(bytes, at, budget);
      await bench.try(`byte ${at} of ${name} ${what}`, { ...files, [name]: changed }, states.slice(-1));
    }
  }
}

/** Cuts the journal at every byte. It stays valid up to there, because nothing shows that more lines followed. */
async function everyEnd(bench: Bench, { files, states }: Specimen, budget: Budget): Promise<void> {
  const journal = files['journal.jsonl'];
  const step = stepIn(journal, budget);
  const whole = linesOf(journal).length;
  for (let end = budget.below(step); end < journal.length; end += step) {
    const cut = journal.subarray(0, end);
    // A line that only lacks its newline is complete.
    const lines = linesOf(Buffer.concat([cut, journal[end] === 10 ? Buffer.from('\n') : Buffer.of()])).length;
    const state = states[Math.max(0, lines - 1 - (whole - states.length))];
    await bench.try(`the journal cut at ${end}`, { ...files, 'journal.jsonl': cut }, state ? [state] : []);
  }
}

async function everyLine(bench: Bench, { files, states }: Specimen, budget: Budget): Promise<void> {
  const oneIn = budget.short ? 30 : Math.round(1 / budget.part);
  const lines = linesOf(files['journal.jsonl']);
  const tried = async (what: string, changed: Buffer[]) => {
    if (Buffer.concat(changed).equals(files['journal.jsonl'])) return;
    await bench.try(what, { ...files, 'journal.jsonl': Buffer.concat(changed) }, states.slice(-1));
  };
  for (const [at, line] of lines.entries()) {
    // The last one may be missing: nothing shows that it existed.
    if (at < lines.length - 1) await tried(`line ${at} removed`, lines.toSpliced(at, 1));
    for (let to = 0; to < lines.length; to++) {
      if (budget.below(oneIn)) continue;
      await tried(`line ${at} duplicated at ${to}`, lines.toSpliced(to, 0, line));
      await tried(`line ${at} swapped with ${to}`, lines.with(at, lines[to] ?? line).with(to, line));
    }
  }
}

trial('changed bytes in the files', { short: 150, least: 30_000, share: 4 }, async (budget) => {
  const bench = new Bench(await temporaryFolder(), budget);
  const [kept, other] = [await specimen('kept', 1), await specimen('other', 2)];
  const last = kept.states.slice(-1);
  const exchanged: [string, Files][] = [
    ['the db.json of another emulator', { ...kept.files, 'db.json': other.files['db.json'] }],
    ['the journal of another emulator', { ...kept.files, 'journal.jsonl': other.files['journal.jsonl'] }],
    [
      'db.json and journal exchanged',
      { 'db.json': kept.files['journal.jsonl'], 'journal.jsonl': kept.files['db.json'] },
    ],
  ];
  for (const [what, files] of exchanged) await bench.try(what, files, []);
  do {
    await everyByte(bench, 'journal.jsonl', kept, budget);
    await everyByte(bench, 'db.json', kept, budget);
    await everyEnd(bench, kept, budget);
    await everyLine(bench, kept, budget);
  } while (budget.more());
  await bench.try('nothing changed', kept.files, last);
  const [db, journal] = FILES.map((name) => kept.files[name].length);
  if (budget.part === 1)
    budget.note(`changed all ${journal} bytes of a journal and all ${db} bytes of its db.json`);
});
