import { join } from 'node:path';
import { Low, Memory } from 'lowdb';
import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { type Change, COLLECTION_NAMES, type Outcome, State, type Undo } from '../domain/state.ts';
import { reason } from './file-error.ts';
import { Journal, readJournal } from './journal.ts';
import { emptySnapshot, parseChange, type Snapshot, SnapshotFile } from './snapshot.ts';

/** A state of up to so many records is written out a second after its last change: people open the file. */
const SMALL_STATE = 5_000;
const SNAPSHOT_DELAY_MS = 1_000;
/** A larger one when its journal has grown over this, and over the snapshot's own size. */
const LARGE_JOURNAL_BYTES = 8 * 2 ** 20;

/**
 * Called after a change is stored, in the order of the commits. `replaced`: the change is the whole state that took
 * the place of the one before; whoever remembers records of that must forget them.
 */
export type ChangeListener = (change: Change, replaced: boolean) => void;

interface Pending {
  line: string;
  change: Change;
  replaced: boolean;
  undo: Undo;
  resolve: () => void;
  reject: (error: Error) => void;
}

/** Where a store keeps its state. */
export interface StoreFiles {
  /** The data folder, which must exist and be locked by the caller. */
  folder: string;
  /** Wait for the disk itself, not just for the system. */
  fsync: boolean;
}

/**
 * The only owner of the state. It is in memory; the files are its shadow: a change is applied at once, appended to
 * the journal together with whatever else came in the same turn, and acknowledged when that is written.
 */
export class Store {
  #state = new State();
  readonly #low: Low<Snapshot>;
  readonly #file: SnapshotFile | undefined;
  #journal: Journal | undefined;
  #pending: Pending[] = [];
  #turns: (() => Promise<void>)[] = [];
  #failures = 0;
  #writing: Promise<void> | undefined;
  #snapshotTimer: NodeJS.Timeout | undefined;
  #snapshotting: Promise<void> | undefined;
  #closed = false;
  readonly #listeners: ChangeListener[] = [];
  /** Whether there was a state before this run. */
  found = false;
  /** Something the user should know about what was found on disk, such as a dropped torn line. */
  readonly notices: string[] = [];

  private constructor(low: Low<Snapshot>, file?: SnapshotFile) {
    this.#low = low;
    this.#file = file;
  }

  /** The state as of the last commit. Read only: changes go through `commit`. */
  get state(): State {
    return this.#state;
  }

  /** A store that forgets everything when the process ends. */
  static async inMemory(initial: Snapshot): Promise<Store> {
    const store = new Store(new Low(new Memory<Snapshot>(), initial));
    store.#load(initial);
    return store;
  }

  /**
   * Opens the state of a folder, or starts it with `initial` where there is none.
   *
   * @throws GatewayError `state_damaged` when what is there cannot be read, `storage_failed` when it cannot be written
   */
  static async open(files: StoreFiles, initial: () => Promise<Snapshot>): Promise<Store> {
    const snapshotPath = join(files.folder, 'db.json');
    const journalPath = join(files.folder, 'journal.jsonl');
    const file = new SnapshotFile(snapshotPath);
    const store = new Store(new Low(file, emptySnapshot()), file);
    const content = await readJournal(journalPath);
    const found = await file.read();
    if (!found && content?.lines.length) {
      throw new GatewayError(
        'state_damaged',
        `${snapshotPath} is missing, but ${journalPath} beside it holds changes to it`,
        {
          hint: hint`Put db.json back, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
        },
      );
    }
    if (content?.tornBytes) {
      store.notices.push(
        `${journalPath}: dropped a torn last line of ${content.tornBytes} bytes, which was never acknowledged`,
      );
    }
    store.found = found !== null;
    store.#load(found ?? (await initial()));
    for (const [index, line] of (content?.lines ?? []).entries()) {
      store.#replay(line, `${journalPath} line ${index + 1}`);
    }
    store.#journal = await Journal.open(journalPath, content?.bytes ?? 0, files.fsync);
    if (!found) await store.#writeFirstSnapshot(snapshotPath);
    else if (content?.lines.length) store.#planSnapshot();
    return store;
  }

  #load(snapshot: Snapshot): void {
    this.#state = new State();
    this.#state.apply(snapshot);
  }

  #replay(line: string, source: string): void {
    const { reset, ...change } = parseChange(line, source);
    if (reset) this.#state = new State();
    this.#state.apply(change);
  }

  /** Hears of every change once it is stored. */
  onChange(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Runs a rule on the state and stores what it changes.
   *
   * @returns what the rule returned, once the change is in the journal
   * @throws what the rule throws, with nothing changed; GatewayError `storage_failed` when the journal cannot be
   *   written, with the change taken back
   */
  async commit<Result>(rule: (state: State) => Outcome<Result>): Promise<Result> {
    const { change, result } = rule(this.#state);
    await this.#store(change, (state) => state.apply(change), change, false);
    return result;
  }

  /** Replaces the whole state, all or nothing. */
  async replace(snapshot: Snapshot): Promise<void> {
    const { version: _, ...change } = snapshot;
    const previous = this.#state;
    await this.#store(
      change,
      () => {
        this.#load(snapshot);
        return () => {
          this.#state = previous;
        };
      },
      { reset: true, ...change },
      true,
    );
  }

  #store(change: Change, apply: (state: State) => Undo, record: object, replaced: boolean): Promise<void> {
    if (this.#closed)
      throw new GatewayError('storage_failed', 'the emulator is stopping and takes no more changes');
    if (!this.#journal) {
      apply(this.#state);
      this.#tell(change, replaced);
      return Promise.resolve();
    }
    // Before anything is applied: what is too large to be written must not be there.
    const line = `${JSON.stringify(record)}\n`;
    const undo = apply(this.#state);
    return new Promise((resolve, reject) => {
      this.#pending.push({ line, change, replaced, undo, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  /**
   * Writes batch after batch until nothing is pending. All that arrives during one write makes the next batch. Between
   * two batches there is a turn for whatever needs the journal to itself, so that steady load cannot keep it out.
   */
  async #writeAll(): Promise<void> {
    while (this.#pending.length || this.#turns.length) {
      // One batch a turn of the event loop: what else comes in it belongs to the same one, and others get their turn.
      await new Promise<void>((resolve) => setImmediate(resolve));
      const batch = this.#pending;
      this.#pending = [];
      if (batch.length) await this.#writeBatch(batch);
      await this.#turns.shift()?.();
      this.#planSnapshot();
    }
    this.#writing = undefined;
  }

  async #writeBatch(batch: readonly Pending[]): Promise<void> {
    try {
      await this.#journal?.append(batch.map(({ line }) => line).join(''));
    } catch (error) {
      this.#giveUp(batch, error);
      return;
    }
    for (const { change, replaced, resolve } of batch) {
      this.#tell(change, replaced);
      resolve();
    }
  }

  /** Does something between two batches: nothing is appended meanwhile. */
  #betweenBatches<Result>(work: () => Result | Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#turns.push(async () => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      });
      this.#writing ??= this.#writeAll();
    });
  }

  /** Later changes were made on top of the failed ones, so all that is not on disk is taken back, newest first. */
  #giveUp(batch: readonly Pending[], error: unknown): void {
    const lost = [...batch, ...this.#pending];
    this.#pending = [];
    this.#failures++;
    for (const { undo } of lost.toReversed()) undo();
    const failure = new GatewayError('storage_failed', `the change could not be stored: ${reason(error)}`, {
      hint: hint`Nothing was changed. Make room in the data folder and try again.`,
      cause: error,
    });
    for (const { reject } of lost) reject(failure);
  }

  #tell(change: Change, replaced: boolean): void {
    for (const listener of this.#listeners) listener(change, replaced);
  }

  /** How many records there are in all. */
  get size(): number {
    return COLLECTION_NAMES.reduce((sum, name) => sum + this.#state[name].size, 0);
  }

  #planSnapshot(): void {
    if (this.#closed || !this.#journal?.bytes || this.#snapshotting) return;
    clearTimeout(this.#snapshotTimer);
    if (this.#journal.bytes > Math.max(LARGE_JOURNAL_BYTES, this.#file?.size ?? 0)) {
      // At once: a timer that every batch sets anew would never fire under load.
      void this.#trySnapshot();
    } else if (this.size <= SMALL_STATE) {
      this.#snapshotTimer = setTimeout(() => void this.#trySnapshot(), SNAPSHOT_DELAY_MS);
      this.#snapshotTimer.unref();
    }
  }

  async #trySnapshot(): Promise<void> {
    this.#snapshotting ??= this.#writeSnapshot().then(
      () => {
        this.#snapshotting = undefined;
        this.#planSnapshot();
      },
      () => {
        // The journal still holds everything: it is tried again after the next change.
        this.#snapshotting = undefined;
      },
    );
    await this.#snapshotting;
  }

  /**
   * Writes the state as of now and drops the journal lines that it holds. A kill in between is harmless: replaying
   * lines that a snapshot already holds ends in the same state, because each line carries whole records.
   */
  async #writeSnapshot(): Promise<void> {
    const journal = this.#journal;
    if (!journal) return;
    const failures = this.#failures;
    const { offset, snapshot } = await this.#betweenBatches(() => ({
      offset: journal.bytes,
      snapshot: this.snapshot(),
    }));
    // The snapshot may hold changes that were still waiting for their batch: by the next turn they are in the journal,
    // or taken back, and a snapshot that holds what was taken back is thrown away.
    await this.#betweenBatches(() => {});
    if (this.#failures !== failures) throw new Error('changes were taken back while the snapshot was made');
    this.#low.data = snapshot;
    try {
      await this.#low.write();
    } finally {
      this.#low.data = emptySnapshot();
    }
    await this.#betweenBatches(() => journal.dropBefore(offset));
  }

  /** Without a first snapshot, the journal's changes would be changes to nothing. */
  async #writeFirstSnapshot(path: string): Promise<void> {
    try {
      await this.#writeSnapshot();
    } catch (error) {
      await this.#journal?.close();
      throw new GatewayError('storage_failed', `${path} cannot be written: ${reason(error)}`, {
        hint: hint`Make room there, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`,
        cause: error,
      });
    }
  }

  /** Resolves when what was pending is written. */
  async #written(): Promise<void> {
    while (this.#writing) await this.#writing;
  }

  /** The whole state as plain records, as of this moment. */
  snapshot(): Snapshot {
    const records = Object.fromEntries(
      COLLECTION_NAMES.map((name) => [name, [...this.#state[name].values()]]),
    );
    return { ...emptySnapshot(), ...records };
  }

  /** Stores what is pending, writes a last snapshot and lets go of the files. Nothing can be committed any more. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#snapshotTimer);
    await this.#snapshotting;
    await this.#written();
    if (this.#journal?.bytes) {
      await this.#writeSnapshot().catch((error: unknown) => {
        // Nothing is lost, but whoever reads db.json should know that it is old.
        this.notices.push(
          `db.json could not be renewed (${reason(error)}): journal.jsonl beside it holds the changes`,
        );
      });
    }
    await this.#written();
    await this.#journal?.close();
  }
}
