import { join } from 'node:path';
import { Low } from 'lowdb';
import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import type { Undo } from '../domain/state.ts';
import { reason } from './file-error.ts';
import { Journal, readJournal } from './journal.ts';
import {
  changeText,
  emptySnapshot,
  parseChange,
  type Snapshot,
  SnapshotFile,
  type StoredChange,
} from './snapshot.ts';
import { WriteQueue } from './write-queue.ts';

/** A state of at most this many records is written out a second after its last change: people open the file. */
const SMALL_STATE = 5_000;
const SNAPSHOT_DELAY_MS = 1_000;
/** A larger one when its journal has grown over this, and over the snapshot's own size. */
const LARGE_JOURNAL_BYTES = 8 * 2 ** 20;

/** Where a store keeps its state. */
export interface StoreFiles {
  /** The data folder, which must exist and be locked by the caller. */
  folder: string;
  /** Wait for the disk itself, not just for the system. */
  fsync: boolean;
}

/** What the files hold. */
export interface Stored {
  /** Null when there is none yet. */
  snapshot: Snapshot | null;
  /** What was committed since, in order. Each is checked when it is asked for. */
  changes: Iterable<StoredChange>;
  tornBytes: number;
}

type SnapshotSource = Readonly<{ size: number; snapshot: () => Snapshot }>;

/** The shadow of the state: `db.json`, a snapshot, and `journal.jsonl`, the changes since. */
export class Disk {
  readonly snapshotPath: string;
  readonly journalPath: string;
  readonly #file: SnapshotFile;
  readonly #low: Low<Snapshot>;
  readonly #fsync: boolean;
  readonly #source: SnapshotSource;
  #writer: { journal: Journal; queue: WriteQueue } | undefined;
  #journalBytes = 0;
  #timer: NodeJS.Timeout | undefined;
  #snapshotting: Promise<void> | undefined;
  #closed = false;

  constructor({ folder, fsync }: StoreFiles, source: SnapshotSource) {
    this.snapshotPath = join(folder, 'db.json');
    this.journalPath = join(folder, 'journal.jsonl');
    this.#file = new SnapshotFile(this.snapshotPath);
    this.#low = new Low(this.#file, emptySnapshot());
    this.#fsync = fsync;
    this.#source = source;
  }

  /** Reads both files and changes neither. @throws GatewayError `state_damaged` */
  async read(): Promise<Stored> {
    const { lines, bytes, tornBytes } = await readJournal(this.journalPath);
    const nothing = this.#low.data;
    await this.#low.read();
    const snapshot = this.#low.data === nothing ? null : this.#low.data;
    this.#low.data = nothing;
    if (!snapshot && lines.length) {
      throw new GatewayError(
        'state_damaged',
        `${this.snapshotPath} is missing, but ${this.journalPath} beside it holds changes to it`,
        {
          hint: hint`Put db.json back, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
        },
      );
    }
    this.#journalBytes = bytes;
    return { snapshot, changes: changesOf(lines, this.journalPath), tornBytes };
  }

  /**
   * Begins to write behind what was read.
   *
   * @param isNew nothing was there: without a first snapshot, the journal's changes would be changes to nothing
   * @throws GatewayError `storage_failed`
   */
  async begin(isNew: boolean): Promise<void> {
    const journal = await Journal.open(this.journalPath, this.#journalBytes, this.#fsync);
    this.#writer = { journal, queue: new WriteQueue(journal, () => this.#planSnapshot()) };
    if (!isNew) return this.#planSnapshot();
    try {
      await this.#writeSnapshot();
    } catch (error) {
      await journal.close();
      throw new GatewayError('storage_failed', `${this.snapshotPath} cannot be written: ${reason(error)}`, {
        hint: hint`Make room there, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`,
        cause: error,
      });
    }
  }

  /**
   * Applies a change and stores it; resolves after `stored`, which runs once it is written.
   *
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  async write(change: StoredChange, apply: () => Undo, stored: () => void): Promise<void> {
    // Before anything is applied: what is too large to be written must not be there.
    const line = changeText(change);
    await this.#writer?.queue.append(line, apply(), stored);
  }

  /**
   * Stores what is pending, writes a last snapshot and lets go of the files.
   *
   * @returns why `db.json` is old, when it is: nothing is lost, but people who read it should know
   */
  async close(): Promise<string | undefined> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#snapshotting;
    await this.#writer?.queue.idle();
    const failure =
      this.#writer?.journal.bytes &&
      (await this.#writeSnapshot().catch(
        (error: unknown) =>
          `db.json could not be renewed (${reason(error)}): journal.jsonl beside it holds the changes`,
      ));
    await this.#writer?.queue.idle();
    await this.#writer?.journal.close();
    return failure || undefined;
  }

  #planSnapshot(): void {
    const bytes = this.#writer?.journal.bytes;
    if (this.#closed || !bytes || this.#snapshotting) return;
    clearTimeout(this.#timer);
    if (bytes > Math.max(LARGE_JOURNAL_BYTES, this.#file.size)) {
      // At once: a timer that every batch sets anew would never fire under load.
      this.#trySnapshot();
    } else if (this.#source.size <= SMALL_STATE) {
      this.#timer = setTimeout(() => this.#trySnapshot(), SNAPSHOT_DELAY_MS);
      this.#timer.unref();
    }
  }

  #trySnapshot(): void {
    this.#snapshotting ??= this.#writeSnapshot()
      .then(
        () => true,
        // The journal still holds everything: it is tried again after the next change.
        () => false,
      )
      .then((done) => {
        this.#snapshotting = undefined;
        if (done) this.#planSnapshot();
      });
  }

  /**
   * Writes the state as of now and drops the journal lines that it holds. A kill in between is harmless: replaying
   * lines that a snapshot already holds ends in the same state, because each line carries whole records.
   */
  async #writeSnapshot(): Promise<void> {
    if (!this.#writer) return;
    const { journal, queue } = this.#writer;
    const { failures } = queue;
    const { offset, snapshot } = await queue.between(() => ({
      offset: journal.bytes,
      snapshot: this.#source.snapshot(),
    }));
    // The snapshot may hold changes that were still waiting for their batch: by the next turn they are in the journal,
    // or rolled back, and a snapshot that holds what was rolled back is thrown away.
    await queue.between(() => {});
    if (queue.failures !== failures) throw new Error('changes were rolled back while the snapshot was made');
    this.#low.data = snapshot;
    try {
      await this.#low.write();
    } finally {
      this.#low.data = emptySnapshot();
    }
    await queue.between(() => journal.dropBefore(offset));
  }
}

function* changesOf(lines: readonly string[], path: string): Generator<StoredChange> {
  for (const [index, line] of lines.entries()) yield parseChange(line, `${path} line ${index + 1}`);
}
