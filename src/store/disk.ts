import { join } from 'node:path';
import { Low } from 'lowdb';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import type { State, Undo } from '../domain/state.ts';
import { onFolder, reason, type StoreFiles, unwritable } from './files.ts';
import { isAlone } from './folder.ts';
import { assertReferences, assertUniqueIds } from './integrity.ts';
import { Journal, readJournal } from './journal.ts';
import { requireMatch } from './journal-match.ts';
import {
  assertOurRules,
  changeText,
  emptySnapshot,
  frozen,
  isSame,
  type SnapshotImage,
  type StoredChange,
} from './snapshot.ts';
import { SnapshotFile } from './snapshot-file.ts';
import { Staleness } from './staleness.ts';
import { WriteQueue } from './write-queue.ts';

/** A state of at most this many records is written out a second after its last change: people open the file. */
const SMALL_STATE = 5_000;
const SNAPSHOT_DELAY_MS = 1_000;

/** What the files are the shadow of. */
export interface Shadowed {
  /** As of now. */
  readonly state: State;
  /** Takes what the files hold: first the snapshot, null when there is none yet, */
  load(snapshot: SnapshotImage | null): Promise<void>;
  /** then each change that was committed since, in order. */
  replay(change: StoredChange): void;
  /** Something the user should know about what was found. */
  notices: string[];
}

/** The shadow of the state: `db.json`, a snapshot, and `journal.jsonl`, the changes since. */
export class Disk {
  readonly #low: Low<SnapshotImage>;
  readonly #file: SnapshotFile;
  readonly #journal: Journal;
  readonly #queue: WriteQueue;
  readonly #shadowed: Shadowed;
  readonly #staleness: Staleness;
  /** Of the snapshot that the journal belongs to; 0 for a journal that does not say so yet. */
  #generation: number;
  #timer: NodeJS.Timeout | undefined;
  #snapshotting: Promise<void> | undefined;
  #closed = false;
  readonly #warn: (text: string) => void;
  /** What was reported last: a change and a snapshot fail for the same reason. */
  #warned: string | undefined;
  /** Whether the folder, or the journal in it, was another one at the end. */
  isLost = false;

  private constructor(
    low: Low<SnapshotImage>,
    file: SnapshotFile,
    { journal, warn = () => {} }: { journal: Journal; warn: StoreFiles['warn'] },
    staleness: Staleness,
    shadowed: Shadowed,
    generation: number,
  ) {
    this.#low = low;
    this.#file = file;
    this.#journal = journal;
    this.#warn = warn;
    this.#queue = new WriteQueue(
      journal,
      () => this.#planSnapshot(),
      (text) => this.#report(text),
    );
    this.#staleness = staleness;
    this.#shadowed = shadowed;
    this.#generation = generation;
  }

  /**
   * Hands on what the files hold, and begins to write behind it.
   *
   * @throws GatewayError `state_damaged`, with both files as they were, or `storage_failed`
   */
  static open(files: StoreFiles, shadowed: Shadowed): Promise<Disk> {
    return onFolder(files.folder, () => Disk.#open(files, shadowed));
  }

  /**
   * Hands on what the files hold, and leaves them as they are: no lock is needed.
   *
   * @throws GatewayError `state_damaged` or `storage_failed`
   */
  static async read(folder: string, shadowed: Shadowed): Promise<void> {
    await onFolder(folder, () => Disk.#read({ folder }, shadowed));
  }

  static async #open(files: StoreFiles, shadowed: Shadowed): Promise<Disk> {
    const { paths, low, file, staleness, match, isFound } = await Disk.#read(files, shadowed);
    const journal = await Journal.open(paths.journal, match.end, files);
    const disk = new Disk(low, file, { journal, warn: files.warn }, staleness, shadowed, match.generation);
    await disk.#begin(paths, match.isOther, isFound);
    return disk;
  }

  static async #read({ folder, currencies }: Pick<StoreFiles, 'folder' | 'currencies'>, shadowed: Shadowed) {
    const paths = { db: join(folder, 'db.json'), journal: join(folder, 'journal.jsonl') };
    const nothing = emptySnapshot();
    const file = new SnapshotFile(paths.db);
    const low = new Low<SnapshotImage>(file, nothing);
    await low.read();
    const snapshot = low.data === nothing ? null : low.data;
    low.data = nothing;
    await shadowed.load(snapshot);
    if (snapshot) assertUniqueIds(shadowed.state, snapshot, paths.db);
    const staleness = new Staleness(shadowed, file);
    const read = await readJournal(paths.journal, (change, bytes) =>
      staleness.measure(change, bytes, () => shadowed.replay(change)),
    );
    const isNewer = () => snapshot === null || !isSame(shadowed.state, snapshot);
    const found = { sha256: snapshot && file.sha256, isAlone: await isAlone(folder) };
    const match = requireMatch(paths, found, read, isNewer);
    if (snapshot) assertReferences(shadowed.state, folder);
    // People wrote it.
    if (snapshot && (match.isOther || !read)) assertOurRules(shadowed.state, paths.db, currencies);
    shadowed.notices.push(...match.notices);
    return { paths, low, file, staleness, match, isFound: snapshot !== null };
  }

  /** Makes files of this format of what was found; without a first snapshot, changes would be changes to nothing. */
  async #begin(paths: { db: string; journal: string }, isOther: boolean, isFound: boolean): Promise<void> {
    const journal = this.#journal;
    const { last, changes } = journal.end;
    const isOlder = this.#generation === 0 && changes > 0;
    if (isFound && !isOther && this.#generation) return this.#planSnapshot();
    try {
      if (!isFound || isOlder) return await this.#writeSnapshot(!isFound);
      await journal.rebase(
        { generation: ++this.#generation, db: this.#file.sha256, after: last },
        journal.end,
      );
    } catch (error) {
      await journal.close();
      const advice = hint`Make room there, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`;
      throw unwritable(isFound && !isOlder ? paths.journal : paths.db, error, advice);
    }
  }

  /**
   * Applies a change and stores it; resolves after `stored`, which runs once it is written.
   *
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  write(change: StoredChange, apply: () => Undo, stored: () => void): Promise<void> {
    // Before anything is applied: what is too large to be written must not be there.
    const text = changeText(change);
    return this.#queue.append(text, this.#staleness.measure(change, text.length, apply), stored);
  }

  stored(): Promise<void> {
    return this.#queue.stored();
  }

  /**
   * Stores what is pending, writes a last snapshot and lets go of the files. Reports why `db.json` is old, when it is:
   * nothing is lost, but people who read it should know.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#snapshotting;
    await this.#queue.idle();
    try {
      if (this.#journal.end.changes) await this.#writeSnapshot();
    } catch (error) {
      const isOld = `db.json could not be renewed (${reason(error)}): journal.jsonl beside it holds the changes`;
      this.#report(error instanceof GatewayError ? error.message : isOld);
    }
    await this.#queue.idle();
    try {
      this.#journal.assertOurs();
    } catch (error) {
      this.isLost = true;
      this.#report((error as Error).message);
    }
    await this.#journal.close();
  }

  #report(text: string): void {
    if (text !== this.#warned) this.#warn(text);
    this.#warned = text;
  }

  #planSnapshot(): void {
    if (this.#closed || !this.#journal.end.changes || this.#snapshotting) return;
    const { isLarge } = this.#staleness;
    if (!isLarge && this.#shadowed.state.size <= SMALL_STATE) {
      if (this.#timer) this.#timer.refresh();
      else this.#timer = setTimeout(() => this.#trySnapshot(), SNAPSHOT_DELAY_MS).unref();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // At once: a timer that every batch sets anew would never fire under load.
    if (isLarge) this.#trySnapshot();
  }

  #trySnapshot(): void {
    // After a failure the journal still holds everything: it is tried again after the next change.
    this.#snapshotting ??= this.#writeSnapshot()
      .then(
        () => {
          this.#warned = undefined;
          return true;
        },
        (error: Error) => {
          if (error instanceof GatewayError) this.#report(error.message);
        },
      )
      .then((isWritten) => {
        this.#snapshotting = undefined;
        if (isWritten) this.#planSnapshot();
      });
  }

  /**
   * Writes the state as of now and drops the journal lines that it holds. A kill is harmless at any moment: the journal
   * says beforehand which db.json will take the place of the present one, and all that the new one holds stays in the
   * journal until it is there. Replaying lines that a snapshot already holds ends in the same state, because each
   * carries whole records.
   *
   * @param isFirst there is no db.json yet, and so nothing in the journal that could be lost
   */
  async #writeSnapshot(isFirst = false): Promise<void> {
    const queue = this.#queue;
    const journal = this.#journal;
    const { failures } = queue;
    journal.assertOurs();
    const { since, image, thaw } = await queue.between(() => {
      this.#staleness.begin();
      return { since: journal.end, ...frozen(this.#shadowed.state) };
    });
    this.#file.isSynced = journal.fsync || !isFirst;
    const baseOf = (sha256: string) => ({ generation: this.#generation + 1, db: sha256, after: since.last });
    try {
      // The snapshot may hold changes that were still waiting for their batch: by the next turn they are in the journal,
      // or rolled back, and a snapshot that holds what was rolled back is thrown away.
      await queue.between(() => {});
      if (queue.failures !== failures)
        throw new Error('changes were rolled back while the snapshot was made');
      this.#file.announce = async (sha256) => {
        journal.assertOurs();
        if (isFirst) await journal.rebase(baseOf(sha256), since);
        else if (this.#generation) {
          await queue.between(() => journal.announce(baseOf(sha256)));
          // Others may append meanwhile: after a heavy load this takes a tenth of a second.
          await journal.flush();
        }
      };
      this.#low.data = image;
      await this.#low.write();
    } finally {
      this.#low.data = emptySnapshot();
      thaw();
    }
    if (!isFirst) await journal.rebase(baseOf(this.#file.sha256), since, (work) => queue.between(work));
    this.#generation++;
  }
}
