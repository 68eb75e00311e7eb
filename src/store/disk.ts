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
  wholeState,
} from './snapshot.ts';
import { SnapshotFile, type Writing } from './snapshot-file.ts';
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
    await onFolder(folder, () => readFiles({ folder }, target));
  }

  static async #open(files: StoreFiles, target: ReplayTarget): Promise<Disk> {
    const found = await readFiles(files, target);
    const { paths, file, staleness, match, isFound } = found;
    const isCurrent = isFound && !match.isReplaced && match.generation > 0;
    if (!isCurrent) staleness.begin();
    const journal = isCurrent
      ? await Journal.open(paths.journal, match.end, files)
      : await newJournal(found, files, target.state);
    const generation = isCurrent ? match.generation : match.generation + 1;
    const disk = new Disk(file, { journal, warn: files.warn }, staleness, target, generation);
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
   */
  async #writeSnapshot(): Promise<void> {
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
        await queue.between(() => journal.announce(baseOf(sha256)));
        // Outside `between`, so that appends can continue: after a heavy load, this takes a tenth of a second.
        await journal.flush();
      };
      await new Low(this.#file.adapter({ announce }), image).write();
    } finally {
      thaw();
    }
    const closeOld = await queue.between(() => journal.rebase(baseOf(this.#file.sha256), since));
    this.#generation++;
    await closeOld();
  }
}

/** Loads the files into `target`, and checks that they belong together. @throws GatewayError `state_damaged` */
async function readFiles(
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
  const isAlone = !read && snapshot !== null && (await hasOnlySnapshot(folder));
  const match = requireMatch(paths, { sha256: snapshot && file.sha256, isAlone }, read, isNewer);
  if (snapshot) assertReferences(target.state, folder);
  // A person edited or created this db.json.
  if (snapshot && (match.isReplaced || !read)) assertRules(target.state, paths.db, currencies);
  target.notices.push(...match.notices);
  return { paths, file, staleness, match, isFound: snapshot !== null };
}

/** Starts a journal: in a new folder, for a db.json that a person edited or put there, or after another format. */
async function newJournal(
  { paths, file, match, isFound }: Awaited<ReturnType<typeof readFiles>>,
  files: StoreFiles,
  state: State,
): Promise<Journal> {
  const { end, generation, isReplaced } = match;
  const create = (db: string) =>
    Journal.create(paths.journal, { generation: generation + 1, db, after: end.last }, files);
  const write = (writing: Writing) => new Low(file.adapter(writing), wholeState(state)).write();
  /** Whether the old journal has changes that db.json must get first. */
  const isAhead = !isReplaced && end.changes > 0;
  try {
    if (isAhead) await write({});
    if (isFound) return await create(file.sha256);
    let journal!: Journal;
    const announce = async (sha256: string) => {
      journal = await create(sha256);
    };
    await write({ announce, isSynced: files.fsync });
    return journal;
  } catch (error) {
    const advice = hint`Free disk space, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`;
    throw unwritable(isFound && !isAhead ? paths.journal : paths.db, error, advice);
  }
}
