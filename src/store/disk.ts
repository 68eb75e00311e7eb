import { join } from 'node:path';
import { Low } from 'lowdb';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import type { State, Undo } from '../domain/state.ts';
import { onFolder, reason, type StoreFiles, unwritable } from './files.ts';
import { hasOnlySnapshot } from './folder.ts';
import { assertReferences, assertUniqueIds } from './integrity.ts';
import { Journal, readJournal } from './journal.ts';
import { requireMatch } from './journal-match.ts';
import {
  assertRules,
  changeText,
  emptySnapshot,
  isSame,
  type SnapshotImage,
  type StoredChange,
  snapshotView,
} from './snapshot.ts';
import { SnapshotFile } from './snapshot-file.ts';
import { Staleness } from './staleness.ts';
import { WriteQueue } from './write-queue.ts';

/** A state with at most this many records gets a snapshot a second after its last change: people open the file. */
const SMALL_STATE = 5_000;
const SNAPSHOT_DELAY_MS = 1_000;

/** The in-memory state that is restored from the files. */
export interface ReplayTarget {
  /** The current state. */
  readonly state: State;
  /** Loads the snapshot; null if there is none yet. */
  load(snapshot: SnapshotImage | null): Promise<void>;
  /** Applies a later change. Called for each change, in order. */
  replay(change: StoredChange): void;
  /** Messages for the user about the files. */
  notices: string[];
}

/** The state on disk: a snapshot in `db.json` and the changes since then in `journal.jsonl`. */
export class Disk {
  readonly #file: SnapshotFile;
  readonly #journal: Journal;
  readonly #queue: WriteQueue;
  readonly #target: ReplayTarget;
  readonly #staleness: Staleness;
  /** Generation of the journal's snapshot; 0 for a journal without one. */
  #generation: number;
  #timer: NodeJS.Timeout | undefined;
  #snapshotting: Promise<void> | undefined;
  #closed = false;
  readonly #warn: (text: string) => void;
  /** The last warning, since a change and a snapshot can fail for the same reason. */
  #warned: string | undefined;
  /** Whether the folder or its journal had been removed or replaced when it was closed. */
  isLost = false;

  private constructor(
    file: SnapshotFile,
    { journal, warn = () => {} }: { journal: Journal; warn: StoreFiles['warn'] },
    staleness: Staleness,
    target: ReplayTarget,
    generation: number,
  ) {
    this.#file = file;
    this.#journal = journal;
    this.#warn = warn;
    this.#queue = new WriteQueue(
      journal,
      () => this.#planSnapshot(),
      (text) => this.#report(text),
    );
    this.#staleness = staleness;
    this.#target = target;
    this.#generation = generation;
  }

  /**
   * Loads the files into `target` and opens them for writing.
   *
   * @throws GatewayError `state_damaged`, with both files unchanged, or `storage_failed`
   */
  static open(files: StoreFiles, target: ReplayTarget): Promise<Disk> {
    return onFolder(files.folder, () => Disk.#open(files, target));
  }

  /**
   * Loads the files into `target` without changing them, so no lock is needed.
   *
   * @throws GatewayError `state_damaged` or `storage_failed`
   */
  static async read(folder: string, target: ReplayTarget): Promise<void> {
    await onFolder(folder, () => Disk.#read({ folder }, target));
  }

  static async #open(files: StoreFiles, target: ReplayTarget): Promise<Disk> {
    const { paths, file, staleness, match, isFound } = await Disk.#read(files, target);
    const journal = await Journal.open(paths.journal, match.end, files);
    const disk = new Disk(file, { journal, warn: files.warn }, staleness, target, match.generation);
    await disk.#begin(paths, match.isReplaced, isFound);
    return disk;
  }

  static async #read(
    { folder, currencies }: Pick<StoreFiles, 'folder' | 'currencies'>,
    target: ReplayTarget,
  ) {
    const paths = { db: join(folder, 'db.json'), journal: join(folder, 'journal.jsonl') };
    const nothing = emptySnapshot();
    const file = new SnapshotFile(paths.db);
    const low = new Low<SnapshotImage>(file.adapter(), nothing);
    await low.read();
    const snapshot = low.data === nothing ? null : low.data;
    await target.load(snapshot);
    if (snapshot) assertUniqueIds(target.state, snapshot, paths.db);
    const staleness = new Staleness(target, file);
    const read = await readJournal(paths.journal, (change, bytes) =>
      staleness.measure(change, bytes, () => target.replay(change)),
    );
    const isNewer = () => snapshot === null || !isSame(target.state, snapshot);
    const found = { sha256: snapshot && file.sha256, isAlone: await hasOnlySnapshot(folder) };
    const match = requireMatch(paths, found, read, isNewer);
    if (snapshot) assertReferences(target.state, folder);
    // A person edited or created this db.json.
    if (snapshot && (match.isReplaced || !read)) assertRules(target.state, paths.db, currencies);
    target.notices.push(...match.notices);
    return { paths, file, staleness, match, isFound: snapshot !== null };
  }

  /** Updates the files to this format, and writes the first snapshot, which the journal requires. */
  async #begin(paths: { db: string; journal: string }, isReplaced: boolean, isFound: boolean): Promise<void> {
    const journal = this.#journal;
    const { last, changes } = journal.end;
    const isOlder = this.#generation === 0 && changes > 0;
    if (isFound && !isReplaced && this.#generation) return this.#planSnapshot();
    try {
      if (!isFound || isOlder) return await this.#writeSnapshot(!isFound);
      await journal.rebase(
        { generation: ++this.#generation, db: this.#file.sha256, after: last },
        journal.end,
      );
    } catch (error) {
      await journal.close();
      const advice = hint`Free disk space, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`;
      throw unwritable(isFound && !isOlder ? paths.journal : paths.db, error, advice);
    }
  }

  /**
   * Applies a change and writes it. Resolves after `stored`, which is called once the change is written.
   *
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  write(change: StoredChange, apply: () => Undo, stored: () => void): Promise<void> {
    // Serialize first: a change that is too large to write must not be applied.
    const text = changeText(change);
    return this.#queue.append(text, this.#staleness.measure(change, text.length, apply), stored);
  }

  stored(): Promise<void> {
    return this.#queue.stored();
  }

  /**
   * Stores pending changes, writes a last snapshot and closes the files. Warns if `db.json` is out of date: nothing is
   * lost, but people who read it should know.
   */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await this.#snapshotting;
    await this.#queue.idle();
    try {
      if (this.#journal.end.changes) await this.#writeSnapshot();
    } catch (error) {
      const outdated = `db.json could not be updated (${reason(error)}): the changes are in journal.jsonl next to it`;
      this.#report(error instanceof GatewayError ? error.message : outdated);
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
    if (!isLarge && this.#target.state.size <= SMALL_STATE) {
      if (this.#timer) this.#timer.refresh();
      else this.#timer = setTimeout(() => this.#trySnapshot(), SNAPSHOT_DELAY_MS).unref();
      return;
    }
    clearTimeout(this.#timer);
    this.#timer = undefined;
    // No timer here: each batch would restart it, so it would never fire under load.
    if (isLarge) this.#trySnapshot();
  }

  #trySnapshot(): void {
    // After a failure, the journal still has all changes. The next change triggers another snapshot.
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
   * Writes the current state and drops the journal lines that it includes. A kill is harmless at any time: the journal
   * names the new db.json before it replaces the old one, and keeps its lines until then. Replaying lines that are
   * already in a snapshot leads to the same state, because each line has whole records.
   *
   * @param isFirst whether there is no db.json yet, so that the journal has nothing to lose
   */
  async #writeSnapshot(isFirst = false): Promise<void> {
    const queue = this.#queue;
    const journal = this.#journal;
    const { failures } = queue;
    journal.assertOurs();
    const { since, image, thaw } = await queue.between(() => {
      this.#staleness.begin();
      return { since: journal.end, ...snapshotView(this.#target.state) };
    });
    const baseOf = (sha256: string) => ({ generation: this.#generation + 1, db: sha256, after: since.last });
    try {
      // The snapshot may include changes that were not yet in the journal. After this turn they are written or rolled
      // back. A snapshot with changes that were rolled back is discarded.
      await queue.between(() => {});
      if (queue.failures !== failures) throw new Error('changes were rolled back during the snapshot');
      const announce = async (sha256: string) => {
        journal.assertOurs();
        if (isFirst) await journal.rebase(baseOf(sha256), since);
        else if (this.#generation) {
          await queue.between(() => journal.announce(baseOf(sha256)));
          // Outside `between`, so that appends can continue: after a heavy load, this takes a tenth of a second.
          await journal.flush();
        }
      };
      const isSynced = journal.fsync || !isFirst;
      await new Low(this.#file.adapter({ announce, isSynced }), image).write();
    } finally {
      thaw();
    }
    if (!isFirst) await journal.rebase(baseOf(this.#file.sha256), since, (work) => queue.between(work));
    this.#generation++;
  }
}
