import { writeFile } from 'node:fs/promises';
import type { Low } from 'lowdb';
import { GatewayError, hint, option } from '../contract/error.ts';
import type { State, Undo } from '../domain/state.ts';
import { isCreated, reason, removeFile, unwritable } from '../system/files.ts';
import { clearTimeout, setImmediate, setTimeout } from '../system/real-time.ts';
import { checksumsOf } from './edits.ts';
import { Journal, type Mark } from './journal.ts';
import type { FoundFiles, StoreFiles } from './read-folder.ts';
import { changeText, emptySnapshot, type Snapshot, type StoredChange, wholeState } from './snapshot.ts';
import { keepEdited, type SnapshotFile } from './snapshot-file.ts';

/** A state with at most this many records gets a snapshot a second after its last change: people open the file. */
const SMALL_STATE = 5_000;
const SNAPSHOT_DELAY_MS = 1_000;
/** A larger state gets one when its journal has outgrown db.json and this size, so that the cost of a change stays the same. */
const MIN_BYTES = 8 * 2 ** 20;

/** The text of `journal.needed`, which is there while an emulator runs and after a kill. */
const NEEDED =
  'gateway-sim is running, or was not stopped normally: journal.jsonl may have changes that db.json lacks.\n';

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
  /** Copies of edited files that were replaced. */
  readonly keptEdits: string[] = [];
  readonly #needed: string;

  private constructor(
    { paths, low, file, notices }: FoundFiles,
    journal: Journal,
    { warn = () => {} }: StoreFiles,
    stateOf: () => State,
  ) {
    this.#low = low;
    this.#file = file;
    file.onEdit = (kept) => {
      const text = `${paths.db} was edited while gateway-sim was using it: the edit has no effect and is kept as ${kept} (stop the emulator before you edit, or use state import)`;
      this.keptEdits.push(kept);
      notices.push(text);
      this.#report(text);
    };
    this.#needed = paths.needed;
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
    const { paths, isOurs, isCurrent } = found;
    const journal = isOurs
      ? await Journal.open(paths.journal, found, files)
      : await newJournal(found, files, stateOf());
    const disk = new Disk(found, journal, files, stateOf);
    try {
      if (isOurs && !isCurrent) await disk.#takeOver(found);
      // Before the first change, and never through a link. It is not synced: a power cut does not remove the journal.
      await isCreated(writeFile(paths.needed, NEEDED, { mode: 0o600, flag: 'wx' }));
    } catch (error) {
      await journal.close();
      throw error;
    }
    disk.#planSnapshot();
    return disk;
  }

  /** Writes an edited or older db.json again in our own format. */
  async #takeOver({ paths, conflicts, notices }: FoundFiles): Promise<void> {
    if (conflicts.length) {
      const kept = await keepEdited(paths.db);
      this.keptEdits.push(kept);
      notices.push(
        `changed both in the edited db.json and in the journal: ${listText(conflicts)}. The journal's version is used, and the edited file is kept as ${kept}`,
      );
    }
    await this.#writeSnapshot();
  }

  /**
   * Applies a change and writes it. Resolves after `stored`, which is called once the change is written.
   *
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  write(change: StoredChange, apply: () => Undo, stored: () => void): Promise<void> {
    // Serialize first: a change that is too large to write must not be applied.
    const replaced = change.reset ? undefined : checksumsOf(change, this.#stateOf());
    const text = changeText({ ...change, replaced });
    const undo = apply();
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

  /** After the whole state was replaced: gives db.json and journal a new id, so that an older journal is rejected. */
  async renew(): Promise<void> {
    await this.#snapshotting;
    if (!this.#closed) this.#startSnapshot();
    await this.#snapshotting;
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
    const isStored = !this.#journal.end.changes;
    await this.#journal.close();
    // If it stays, the next start only needs the journal.
    if (isStored && !this.isLost) await removeFile(this.#needed).catch(() => {});
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
    const isOutgrown = this.#journal.end.bytes > Math.max(MIN_BYTES, this.#file.size);
    if (!isOutgrown && this.#stateOf().size <= SMALL_STATE) {
      if (this.#timer) this.#timer.refresh();
      else this.#timer = setTimeout(() => this.#startSnapshot(), SNAPSHOT_DELAY_MS).unref();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // No timer here: each batch would restart it, so it would never fire under load.
    if (isOutgrown) this.#startSnapshot();
  }

  #startSnapshot(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
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
   * names the new db.json, and the last line that it includes, before it replaces the old one, and keeps all lines until
   * then.
   */
  async #writeSnapshot(): Promise<void> {
    const journal = this.#journal;
    const failure = this.#failure;
    journal.assertOurs();
    const { since, snapshot } = await this.#between(() => ({
      since: journal.end,
      snapshot: wholeState(this.#stateOf()),
    }));
    // The snapshot may include changes that were not yet in the journal. After this turn they are written or rolled
    // back. A snapshot with changes that were rolled back is discarded.
    await this.#between(() => {});
    if (this.#failure !== failure) throw new Error('changes were rolled back during the snapshot');
    this.#file.announce = (written) => this.#announce({ ...written, after: since.last });
    await write(this.#low, snapshot);
    const closeOld = await this.#between(() => journal.rebase(markOf(this.#file, since.last), since));
    await closeOld();
  }

  async #announce(mark: Mark): Promise<void> {
    this.#journal.assertOurs();
    await this.#between(() => this.#journal.announce(mark));
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

/** Starts a journal: in a new folder, after format 1, or for a db.json that a person put there. Writes both files. */
async function newJournal(
  { paths, low, file, end }: FoundFiles,
  files: StoreFiles,
  state: State,
): Promise<Journal> {
  try {
    // First db.json: it needs no journal, but it must have the changes of an old one.
    await write(low, wholeState(state));
    return await Journal.create(paths.journal, markOf(file, end.last + 1), files);
  } catch (error) {
    const fix = hint`Free disk space, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`;
    throw unwritable(paths.db, error, fix);
  }
}

/** @param after the number of the last line that db.json includes; above 0, so that a missing db.json is detected */
function markOf({ id, sha256 = '' }: SnapshotFile, after: number): Mark {
  return { id, db: sha256, after };
}

/** A notice is one line. */
const MAX_NAMED = 20;

function listText(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return names.slice(0, MAX_NAMED).join(', ') + more;
}
