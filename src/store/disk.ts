import { join } from 'node:path';
import { Low } from 'lowdb';
import type { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import type { Undo } from '../domain/state.ts';
import { damaged, reason, unwritable } from './files.ts';
import { Journal, readJournal } from './journal.ts';
import { changeText, emptySnapshot, parseChange, type Snapshot, type StoredChange } from './snapshot.ts';
import { readSnapshotFile, writeSnapshotFile } from './snapshot-file.ts';
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

/** The state that the files are the shadow of. */
export interface Shadowed {
  /** Of all records. */
  readonly size: number;
  snapshot(): Snapshot;
  /** Takes what the files hold: first the snapshot, null when there is none yet, */
  load(snapshot: Snapshot | null): Promise<void>;
  /** then each change that was committed since, in order. */
  replay(change: StoredChange): void;
  /** Something the user should know about what was found. */
  notices: string[];
}

/** The shadow of the state: `db.json`, a snapshot, and `journal.jsonl`, the changes since. */
export class Disk {
  readonly #low: Low<Snapshot>;
  readonly #file: { size: number };
  readonly #journal: Journal;
  readonly #queue: WriteQueue;
  readonly #state: Shadowed;
  #timer: NodeJS.Timeout | undefined;
  #snapshotting: Promise<void> | undefined;
  #closed = false;

  private constructor(low: Low<Snapshot>, file: { size: number }, journal: Journal, state: Shadowed) {
    this.#low = low;
    this.#file = file;
    this.#journal = journal;
    this.#queue = new WriteQueue(journal, () => this.#planSnapshot());
    this.#state = state;
  }

  /**
   * Hands on what the files hold, and begins to write behind it.
   *
   * @throws GatewayError `state_damaged`, with both files as they were, or `storage_failed`
   */
  static async open({ folder, fsync }: StoreFiles, state: Shadowed): Promise<Disk> {
    const path = join(folder, 'db.json');
    const journalPath = join(folder, 'journal.jsonl');
    const nothing = emptySnapshot();
    const file = {
      /** Of what was written last, in bytes. */
      size: 0,
      read: async () => (await readSnapshotFile(path))?.snapshot ?? null,
      async write(snapshot: Snapshot) {
        file.size = await writeSnapshotFile(path, snapshot);
      },
    };
    const low = new Low(file, nothing);
    await low.read();
    const found = low.data !== nothing;
    await state.load(found ? low.data : null);
    low.data = nothing;
    const { bytes, tornBytes } = await readJournal(journalPath, (line, number) => {
      if (!found) throw withoutSnapshot(path, journalPath);
      state.replay(parseChange(line, `${journalPath} line ${number}`));
    });
    if (tornBytes) {
      const torn = `dropped a torn last line of ${tornBytes} bytes, which was never acknowledged`;
      state.notices.push(`${journalPath}: ${torn}`);
    }
    const journal = await Journal.open(journalPath, bytes, fsync);
    const disk = new Disk(low, file, journal, state);
    if (found) disk.#planSnapshot();
    else await disk.#writeFirst(path);
    return disk;
  }

  /** Without a first snapshot, the journal's changes would be changes to nothing. */
  async #writeFirst(path: string): Promise<void> {
    try {
      await this.#writeSnapshot();
    } catch (error) {
      await this.#journal.close();
      const advice = hint`Make room there, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`;
      throw unwritable(path, error, advice);
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
    await this.#queue.append(line, apply(), stored);
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
    await this.#queue.idle();
    const failure =
      this.#journal.bytes &&
      (await this.#writeSnapshot().catch(
        (error: unknown) =>
          `db.json could not be renewed (${reason(error)}): journal.jsonl beside it holds the changes`,
      ));
    await this.#queue.idle();
    await this.#journal.close();
    return failure || undefined;
  }

  #planSnapshot(): void {
    const { bytes } = this.#journal;
    if (this.#closed || !bytes || this.#snapshotting) return;
    clearTimeout(this.#timer);
    if (bytes > Math.max(LARGE_JOURNAL_BYTES, this.#file.size)) {
      // At once: a timer that every batch sets anew would never fire under load.
      this.#trySnapshot();
    } else if (this.#state.size <= SMALL_STATE) {
      this.#timer = setTimeout(() => this.#trySnapshot(), SNAPSHOT_DELAY_MS);
      this.#timer.unref();
    }
  }

  #trySnapshot(): void {
    const ended = () => {
      this.#snapshotting = undefined;
    };
    // After a failure the journal still holds everything: it is tried again after the next change.
    this.#snapshotting ??= this.#writeSnapshot().then(() => {
      ended();
      this.#planSnapshot();
    }, ended);
  }

  /**
   * Writes the state as of now and drops the journal lines that it holds. A kill in between is harmless: replaying
   * lines that a snapshot already holds ends in the same state, because each line carries whole records.
   */
  async #writeSnapshot(): Promise<void> {
    const queue = this.#queue;
    const { failures } = queue;
    const { offset, snapshot } = await queue.between(() => ({
      offset: this.#journal.bytes,
      snapshot: this.#state.snapshot(),
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
    await queue.between(() => this.#journal.dropBefore(offset));
  }
}

function withoutSnapshot(path: string, journalPath: string): GatewayError {
  const advice = hint`Put db.json back, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`;
  return damaged(`${path} is missing, but ${journalPath} beside it holds changes to it`, { hint: advice });
}
