import { join } from 'node:path';
import { Low } from 'lowdb';
import { command, GatewayError, hint, option } from '../contract/error.ts';
import { COLLECTION_NAMES } from '../contract/state.ts';
import { State, type Undo } from '../domain/state.ts';
import { clearTimeout, setImmediate, setTimeout } from '../system/real-time.ts';
import { damaged, reason, type StoreFiles, unwritable } from './files.ts';
import { hasOnlySnapshot } from './folder.ts';
import { assertConsistent } from './integrity.ts';
import { Journal, type JournalContent, readJournal } from './journal.ts';
import {
  changeText,
  emptySnapshot,
  isSame,
  type Snapshot,
  type StoredChange,
  wholeState,
} from './snapshot.ts';
import { SnapshotFile } from './snapshot-file.ts';

/** A state with at most this many records gets a snapshot a second after its last change: people open the file. */
const SMALL_STATE = 5_000;
const SNAPSHOT_DELAY_MS = 1_000;
/** With fewer outdated bytes, a new snapshot of a large state is not worthwhile. */
const MIN_BYTES = 8 * 2 ** 20;

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/**
 * How many bytes on disk a change outdates. A record that is replaced counts like the new one, a removed one like the
 * average of all.
 *
 * @param bytes the length of its line
 * @param before the number of records before it
 * @param after the number of records after it
 * @param total the length of both files before it
 */
function outdatedBy(
  change: StoredChange,
  { bytes, before, after, total }: { bytes: number; before: number; after: number; total: number },
): number {
  const records = sum(COLLECTION_NAMES.map((name) => change[name]?.length ?? 0));
  const removed = sum(Object.values(change.removed ?? {}).map((ids) => ids.length));
  const replaced = records + before - after - removed;
  // The line of a removal itself is out of date, too.
  const share = records ? replaced / records : 1;
  return bytes * share + (total * removed) / Math.max(before, 1);
}

const NO_JOURNAL: JournalContent = {
  dbs: [],
  written: [],
  changes: [],
  end: { bytes: 0, last: 0, changes: 0 },
  isCut: false,
  tornBytes: 0,
};

/**
 * Reads the files of a folder, and checks that they belong together. Does not change them.
 *
 * @returns the state, null if nothing is stored, and messages for the user
 * @throws GatewayError `state_damaged`, or the file system's error
 */
export async function readFolder({ folder, fsync, currencies = [] }: StoreFiles) {
  const paths = { db: join(folder, 'db.json'), journal: join(folder, 'journal.jsonl') };
  const journal = await readJournal(paths.journal);
  const { dbs, written, changes, end, isCut, tornBytes } = journal ?? NO_JOURNAL;
  const file = new SnapshotFile(paths.db, { written, fsync });
  const low = new Low<Snapshot>(file, emptySnapshot());
  await low.read();
  const snapshot = low.data;
  low.data = emptySnapshot();
  const isThere = file.sha256 !== undefined;
  const isOurs = dbs.some((db) => db === file.sha256);
  const notices: string[] = [];
  // The first start of a folder creates the journal just before db.json.
  if (!isThere && (end.changes || end.last)) throw missingSnapshot(paths);
  // A db.json alone was put there by a user, so no journal was lost.
  if (isThere && !journal && !(await hasOnlySnapshot(folder))) throw missingJournal(paths);
  if (isThere && !isOurs) assertConsistent(snapshot, paths.db, currencies);
  let state = new State();
  state.apply(snapshot);
  let read = 0;
  let outdated = 0;
  for (const { change, bytes } of changes) {
    const before = state.size;
    if (change.reset) state = new State();
    state.apply(change);
    outdated += outdatedBy(change, { bytes, before, after: state.size, total: file.size + read });
    read += bytes;
  }
  if (isThere && !isOurs && dbs.length) {
    if (end.changes && !isSame(state, snapshot)) throw otherSnapshot(paths, end.changes);
    notices.push(`${paths.db} was changed after gateway-sim wrote it: using the changed file`);
  }
  if (tornBytes) {
    notices.unshift(
      `${paths.journal}: dropped a torn last line of ${tornBytes} bytes, which was never acknowledged`,
    );
  }
  return {
    state: isThere ? state : null,
    notices,
    files: { paths, low, file, end, isCut, isOurs, outdated },
  };
}

type FoundFiles = Awaited<ReturnType<typeof readFolder>>['files'];
type Paths = FoundFiles['paths'];

function missingSnapshot({ db, journal }: Paths): GatewayError {
  return damaged(`${db} is missing, but ${journal} contains changes to it`, {
    hint: hint`Restore db.json, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}

function missingJournal({ db, journal }: Paths): GatewayError {
  return damaged(`${journal} is missing: it contained the changes since ${db} was written`, {
    hint: hint`Restore journal.jsonl, or create an empty one to continue from db.json as it is, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}

function otherSnapshot({ db, journal }: Paths, changes: number): GatewayError {
  const count = changes === 1 ? '1 change' : `${changes} changes`;
  return damaged(`${journal} has ${count} to a db.json other than ${db}`, {
    hint: hint`Restore the original db.json, or clear journal.jsonl to continue without its changes, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}

/** A change that is applied in memory but not yet on disk. */
interface Pending {
  text: string;
  undo: Undo;
  resolve: () => void;
  reject: (error: Error) => void;
}

/**
 * The state on disk: a snapshot in `db.json` and the changes since then in `journal.jsonl`. All changes of one turn of
 * the event loop, or during one sync, are written to the journal as one batch.
 */
export class Disk {
  readonly #low: Low<Snapshot>;
  readonly #file: SnapshotFile;
  readonly #journal: Journal;
  readonly #stateOf: () => State;
  readonly #warn: (text: string) => void;
  /** The last warning, since a change and a snapshot can fail for the same reason. */
  #warned: string | undefined;
  /** How many bytes of both files are out of date. */
  #outdated: number;
  #timer: NodeJS.Timeout | undefined;
  #snapshotting: Promise<void> | undefined;
  #closed = false;
  #pending: Pending[] = [];
  /** Work that waits for its turn between two batches. */
  #turns: (() => Promise<void>)[] = [];
  #isPlanned = false;
  /** Why the last batch that failed was rolled back. */
  #failure: GatewayError | undefined;
  /** Whether the folder or its journal had been removed or replaced when it was closed. */
  isLost = false;

  private constructor(
    { low, file, isOurs, outdated }: FoundFiles,
    journal: Journal,
    { warn = () => {} }: StoreFiles,
    stateOf: () => State,
  ) {
    this.#low = low;
    this.#file = file;
    file.announce = (sha256) => this.#announce(sha256);
    this.#outdated = isOurs ? outdated : 0;
    this.#journal = journal;
    this.#warn = warn;
    this.#stateOf = stateOf;
  }

  /**
   * Opens the files of a folder for writing, or creates them.
   *
   * @param stateOf returns the current state: what was found, or the initial state
   * @throws GatewayError `storage_failed`
   */
  static async open(found: FoundFiles, files: StoreFiles, stateOf: () => State): Promise<Disk> {
    const journal = found.isOurs
      ? await Journal.open(found.paths.journal, found, files)
      : await newJournal(found, files, stateOf());
    const disk = new Disk(found, journal, files, stateOf);
    disk.#planSnapshot();
    return disk;
  }

  /**
   * Applies a change and writes it. Resolves after `stored`, which is called once the change is written.
   *
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  write(change: StoredChange, apply: () => Undo, stored: () => void): Promise<void> {
    // Serialize first: a change that is too large to write must not be applied.
    const text = changeText(change);
    const before = this.#stateOf().size;
    const undo = apply();
    const after = this.#stateOf().size;
    this.#outdated += outdatedBy(change, { bytes: text.length, before, after, total: this.#bytes });
    return new Promise((resolve, reject) => {
      const settle = () => {
        stored();
        resolve();
      };
      this.#pending.push({ text, undo, resolve: settle, reject });
      this.#plan();
    });
  }

  /**
   * Resolves when all changes so far are stored, immediately if none is pending.
   *
   * @throws GatewayError `storage_failed` if some were rolled back
   */
  async stored(): Promise<void> {
    if (!this.#isPlanned) return;
    const failure = this.#failure;
    await this.#between(() => {});
    if (this.#failure !== failure) throw this.#failure;
  }

  /**
   * Stores pending changes, writes a last snapshot and closes the files. Warns if `db.json` is out of date: nothing is
   * lost, but people who read it should know.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#snapshotting;
    await this.#between(() => {});
    try {
      if (this.#journal.end.changes) await this.#writeSnapshot();
    } catch (error) {
      const outdated = `db.json could not be updated (${reason(error)}): the changes are in journal.jsonl next to it`;
      this.#report(error instanceof GatewayError ? error.message : outdated);
    }
    try {
      this.#journal.assertOurs();
    } catch (error) {
      this.isLost = true;
      this.#report((error as Error).message);
    }
    await this.#journal.close();
  }

  /** The length of both files. */
  get #bytes(): number {
    return this.#file.size + this.#journal.end.bytes;
  }

  #report(text: string): void {
    if (text !== this.#warned) this.#warn(text);
    this.#warned = text;
  }

  /** Runs work between two batches, while nothing is appended. */
  #between<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#turns.push(() => (async () => work())().then(resolve, reject));
      this.#plan();
    });
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    setImmediate(() => this.#flush());
  }

  /** Writes a batch. Then runs one piece of work that needs exclusive access to the journal, even under constant load. */
  async #flush(): Promise<void> {
    const batch = this.#pending;
    this.#pending = [];
    // Work that is planned during the sync runs after the next batch, which has the changes before it.
    const turn = this.#turns.shift();
    // Waits only if necessary: each turn of the event loop would delay all changes of the batch.
    const syncing = batch.length ? this.#store(batch) : undefined;
    if (syncing) await syncing;
    if (turn) await turn();
    this.#isPlanned = false;
    this.#planSnapshot();
    if (this.#pending.length || this.#turns.length) this.#plan();
  }

  /** Returns a promise if the caller must wait. */
  #store(batch: readonly Pending[]): Promise<void> | undefined {
    const before = this.#journal.end;
    try {
      this.#journal.append(batch.map(({ text }) => text));
    } catch (error) {
      this.#rollBack(batch, error);
      return undefined;
    }
    const settle = () => {
      for (const { resolve } of batch) resolve();
    };
    if (this.#journal.fsync)
      return this.#journal.sync().then(settle, (error) => {
        this.#journal.cut(before);
        this.#rollBack(batch, error);
      });
    settle();
    return undefined;
  }

  /** Rolls back all changes that are not on disk, newest first, since later ones build on the failed ones. */
  #rollBack(batch: readonly Pending[], error: unknown): void {
    const lost = [...batch, ...this.#pending];
    this.#pending = [];
    for (const { undo } of lost.toReversed()) undo();
    const failure =
      error instanceof GatewayError
        ? error
        : new GatewayError('storage_failed', `the change could not be stored: ${reason(error)}`, {
            hint: hint`Nothing was changed. Free disk space for the data folder and try again.`,
            cause: error,
          });
    this.#failure = failure;
    this.#report(failure.message);
    for (const { reject } of lost) reject(failure);
  }

  #planSnapshot(): void {
    if (this.#closed || this.#snapshotting || !this.#journal.end.changes) return;
    // A journal with only new records is as good as a snapshot, however long it is.
    const isOutdated = this.#outdated > Math.max(MIN_BYTES, this.#bytes / 2);
    if (!isOutdated && this.#stateOf().size <= SMALL_STATE) {
      if (this.#timer) this.#timer.refresh();
      else this.#timer = setTimeout(() => this.#startSnapshot(), SNAPSHOT_DELAY_MS).unref();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // No timer here: each batch would restart it, so it would never fire under load.
    if (isOutdated) this.#startSnapshot();
  }

  #startSnapshot(): void {
    this.#snapshotting ??= this.#writeSnapshot().then(
      () => {
        this.#snapshotting = undefined;
        this.#warned = undefined;
        this.#planSnapshot();
      },
      (error: Error) => {
        // The journal still has all changes. The next change triggers another snapshot.
        this.#snapshotting = undefined;
        if (error instanceof GatewayError) this.#report(error.message);
      },
    );
  }

  /**
   * Writes the current state and drops the journal lines that it includes. A kill is harmless at any time: the journal
   * names the new db.json before it replaces the old one, and keeps its lines until then. Replaying lines that are
   * already in a snapshot leads to the same state, because each line has whole records.
   */
  async #writeSnapshot(): Promise<void> {
    const journal = this.#journal;
    const failure = this.#failure;
    journal.assertOurs();
    const { since, snapshot } = await this.#between(() => {
      this.#outdated = 0;
      return { since: journal.end, snapshot: wholeState(this.#stateOf()) };
    });
    // The snapshot may include changes that were not yet in the journal. After this turn they are written or rolled
    // back. A snapshot with changes that were rolled back is discarded.
    await this.#between(() => {});
    if (this.#failure !== failure) throw new Error('changes were rolled back during the snapshot');
    await write(this.#low, snapshot);
    const closeOld = await this.#between(() => journal.rebase(this.#file.sha256 ?? '', since));
    await closeOld();
  }

  async #announce(sha256: string): Promise<void> {
    this.#journal.assertOurs();
    await this.#between(() => this.#journal.announce(sha256));
    // Outside `#between`, so that appends can continue: after a heavy load, this takes a tenth of a second.
    await this.#journal.sync();
  }
}

/** Writes a snapshot. Afterwards lowdb must not hold it: its records would stay in memory after they are replaced. */
async function write(low: Low<Snapshot>, snapshot: Snapshot): Promise<void> {
  low.data = snapshot;
  await low.write().finally(() => {
    low.data = emptySnapshot();
  });
}

/**
 * Starts a journal: in a new folder, after format 1, or for a db.json that a person edited or put there. Writes db.json
 * again in our own format.
 */
async function newJournal(
  { paths, low, file, end }: FoundFiles,
  files: StoreFiles,
  state: State,
): Promise<Journal> {
  const isNew = file.sha256 === undefined;
  let journal: Journal | undefined;
  const create = async (db: string) => {
    // A number above 0 means that there is a db.json, even if no change was ever stored.
    journal = await Journal.create(paths.journal, { db, after: isNew ? 0 : end.last + 1 }, files);
    return journal;
  };
  try {
    // The journal comes first, because a db.json alone would look as if its journal was lost. But the changes of an old
    // journal must first be in db.json.
    if (!end.changes) file.announce = create;
    await write(low, wholeState(state));
    return journal ?? (await create(file.sha256 ?? ''));
  } catch (error) {
    const fix = hint`Free disk space, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`;
    throw unwritable(paths.db, error, fix);
  }
}
