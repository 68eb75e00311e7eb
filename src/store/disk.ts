import { lstatSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Adapter, Low } from 'lowdb';
import { command, type GatewayError, hint, option } from '../contract/error.ts';
import { State, type Undo } from '../domain/state.ts';
import { isCreated, removeFile, unwritable } from '../system/files.ts';
import { Batches } from './batches.ts';
import { assertConsistent } from './consistency.ts';
import { damaged, outdated } from './errors.ts';
import {
  Journal,
  type JournalContent,
  type JournalEnd,
  type JournalOptions,
  type Mark,
  readJournal,
} from './journal.ts';
import { changeText, type Snapshot, type StoredChange, wholeState } from './snapshot.ts';
import { SnapshotFile } from './snapshot-file.ts';
import { SnapshotPlan } from './snapshot-plan.ts';

/** Where a store keeps its state. */
export interface StoreFiles extends JournalOptions {
  /** The data folder, which must exist. The caller must have locked it. */
  folder: string;
  /** Currency codes from the options, in addition to the codes of the state's wallets. */
  currencies?: Iterable<string>;
  /** Called once when changes can no longer be stored. */
  warn?: (text: string) => void;
}

/** The text of `journal.needed`, which is there while an emulator runs and after a kill. */
const NEEDED =
  'gateway-sim is running, or was not stopped normally: journal.jsonl may have changes that db.json lacks.\n';

/**
 * The state on disk, as an adapter of lowdb: `read` returns the snapshot in `db.json` with the changes in
 * `journal.jsonl`, and `write` writes a snapshot. Between two snapshots, `append` writes each change to the journal.
 */
export class Disk implements Adapter<State> {
  /** Messages for the user about the files. */
  readonly notices: string[] = [];
  /** Whether the folder or its journal had been removed or replaced when it was closed. */
  isLost = false;
  readonly #files: StoreFiles;
  readonly #paths: Paths;
  readonly #file: SnapshotFile;
  readonly #journal: Journal;
  readonly #batches: Batches;
  #db: Low<State> | undefined;
  #plan: SnapshotPlan | undefined;
  /** The end of the journal as it was read; undefined if there is none. */
  #found: JournalEnd | undefined;
  /** Whether db.json and journal can be used as they were read. */
  #isCurrent = false;
  /** The last warning, since a change and a snapshot can fail for the same reason. */
  #warned: string | undefined;

  constructor(files: StoreFiles) {
    const pathOf = (name: string) => join(files.folder, name);
    this.#files = files;
    this.#paths = {
      db: pathOf('db.json'),
      journal: pathOf('journal.jsonl'),
      /** Exists while changes may be only in the journal. */
      needed: pathOf('journal.needed'),
    };
    this.#file = new SnapshotFile(this.#paths.db);
    this.#journal = new Journal(this.#paths.journal, files);
    this.#batches = new Batches(this.#journal, (text) => this.#report(text));
  }

  /**
   * Reads the files, and checks that they belong together. Does not change them.
   *
   * @returns null if nothing is stored
   * @throws GatewayError `state_damaged`, or the file system's error
   */
  async read(): Promise<State | null> {
    const { db, journal, needed } = this.#paths;
    const found = await readJournal(journal);
    const { marks = [], changes = [], tornBytes = 0 } = found ?? {};
    const snapshot = await this.#file.read(marks.map((mark) => mark.db));
    if (!snapshot && found) throw missingSnapshot(this.#paths);
    if (!snapshot) return null;
    if (!found && lstatSync(needed, { throwIfNoEntry: false })) throw missingJournal(this.#paths);
    const written = marks.find((mark) => mark.db === this.#file.sha256);
    const mark = written ?? marks.find(({ id }) => id === this.#file.id);
    const later = changes.filter(({ number }) => number > (mark?.after ?? 0));
    if (!written && later.length) throw unusableEdit(this.#paths, later.length, mark !== undefined);
    if (!written) assertConsistent(snapshot, db, this.#files.currencies ?? []);
    if (!written && found) this.notices.push(editNotice(this.#paths, mark !== undefined));
    if (tornBytes)
      this.notices.push(
        `${journal}: dropped a torn last line of ${tornBytes} bytes, which was never acknowledged`,
      );
    // Without its changes, whose records would stay in memory after they are replaced.
    this.#found = found && { end: found.end, isCut: found.isCut };
    this.#isCurrent = written !== undefined;
    return stateOf(snapshot, later);
  }

  /**
   * Opens the files for changes, after `read`. Writes them if they are new or db.json was edited.
   *
   * @param db whose data is the current state: what was found, or the initial state
   * @throws GatewayError `storage_failed`
   */
  async open(db: Low<State>): Promise<void> {
    const plan = new SnapshotPlan(db, {
      file: this.#file,
      journal: this.#journal,
      onWritten: () => {
        this.#warned = undefined;
      },
      onFailed: (error) => this.#report(outdated(error)),
    });
    try {
      if (this.#found) await this.#journal.open(this.#found);
      if (!this.#isCurrent) await db.write();
      // Before the first change, and never through a link. It is not synced: a power cut does not remove the journal.
      await isCreated(writeFile(this.#paths.needed, NEEDED, { mode: 0o600, flag: 'wx' }));
    } catch (error) {
      await this.#journal.close();
      throw error;
    }
    this.#db = db;
    this.#plan = plan;
    this.#batches.onFlush = () => plan.consider();
    plan.consider();
  }

  /**
   * Writes a snapshot and drops the journal lines that it includes. A kill is harmless at any time: the journal names the
   * new db.json, and the last line that it includes, before it replaces the old one, and keeps all lines until then.
   *
   * @throws the file system's error, with the old db.json unchanged
   */
  async write(state: State): Promise<void> {
    const { end: since, isOpen } = this.#journal;
    // At the same moment, before any other change.
    const snapshot = wholeState(state);
    if (!isOpen) return this.#writeFirst(snapshot);
    const { failure } = this.#batches;
    // The snapshot may include changes that are not yet in the journal. After this turn they are written or rolled back.
    // A snapshot with changes that were rolled back is discarded.
    await this.#batches.between(() => {});
    if (this.#batches.failure !== failure) throw new Error('changes were rolled back during the snapshot');
    this.#journal.assertOurs();
    const mark = await this.#replace(snapshot, since.last, async (next) => {
      await this.#batches.between(() => this.#journal.announce(next));
      // Outside `between`, so that appends can continue: after a heavy load, this takes a tenth of a second.
      await this.#journal.sync();
    });
    const closeOld = await this.#batches.between(() => this.#journal.rebase(mark, since));
    await closeOld();
  }

  /** Writes the first db.json, and then a journal that belongs to it. */
  async #writeFirst(snapshot: Snapshot): Promise<void> {
    try {
      // Its number is above 0, so that a missing db.json is detected.
      await this.#journal.create(await this.#replace(snapshot, 1));
    } catch (error) {
      const fix = hint`Free disk space, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`;
      throw unwritable(this.#paths.db, error, fix);
    }
  }

  /** Replaces db.json. @param after the number of the last line that it includes */
  async #replace(
    snapshot: Snapshot,
    after: number,
    announce: (mark: Mark) => Promise<void> = async () => {},
  ): Promise<Mark> {
    const { fsync, assertOurs = () => {} } = this.#files;
    await this.#file.write(snapshot, {
      // A file that replaces another one is always synced.
      isSynced: fsync || this.#file.sha256 !== undefined,
      announce: (written) => announce({ ...written, after }),
      assertOurs: this.#journal.isOpen ? () => this.#journal.assertOurs() : assertOurs,
      onEdit: (kept) => this.#reportEdit(kept),
    });
    const { id = '', sha256 = '' } = this.#file;
    return { id, db: sha256, after };
  }

  /**
   * Applies a change and writes it to the journal. Resolves after `stored`, which is called once it is written.
   *
   * @throws GatewayError `storage_failed`, with the change rolled back
   */
  append(change: StoredChange, apply: () => Undo, stored: () => void): Promise<void> {
    // Serialize first: a change that is too large to write must not be applied.
    const text = changeText(change);
    return this.#batches.add(text, apply(), stored);
  }

  /**
   * Resolves when all changes so far are stored, immediately if none is pending.
   *
   * @throws GatewayError `storage_failed` if some were rolled back
   */
  stored(): Promise<void> {
    return this.#batches.stored();
  }

  /** After the whole state was replaced: gives db.json and journal a new id, so that an older journal is rejected. */
  async renew(): Promise<void> {
    await this.#plan?.renew();
  }

  /**
   * Stores pending changes, writes a last snapshot and closes the files. Warns if `db.json` is out of date: nothing is
   * lost, but people who read it should know.
   */
  async close(): Promise<void> {
    await this.#plan?.stop();
    await this.#batches.between(() => {});
    try {
      if (this.#journal.end.changes) await this.#db?.write();
    } catch (error) {
      this.#report(outdated(error));
    }
    try {
      this.#journal.assertOurs();
    } catch (error) {
      this.isLost = true;
      this.#report((error as Error).message);
    }
    try {
      if (!this.isLost && !this.#journal.end.changes) removeFile(this.#paths.needed);
    } catch {
      // The next start only needs the journal, which is there.
    }
    await this.#journal.close();
  }

  #reportEdit(kept: string): void {
    const text = `${this.#paths.db} was edited while gateway-sim was using it: the edit has no effect and is kept as ${kept} (stop the emulator before you edit, or use state import)`;
    this.notices.push(text);
    this.#report(text);
  }

  #report(text: string): void {
    if (text !== this.#warned) this.#files.warn?.(text);
    this.#warned = text;
  }
}

/** A state with these records and then these changes. */
function stateOf(snapshot: Snapshot, changes: JournalContent['changes']): State {
  let state = new State();
  state.apply(snapshot);
  for (const { change } of changes) {
    if (change.reset) state = new State();
    state.apply(change);
  }
  return state;
}

type Paths = Readonly<Record<'db' | 'journal' | 'needed', string>>;

function editNotice({ db, journal }: Paths, isOurs: boolean): string {
  return isOurs
    ? `${db} was edited after gateway-sim wrote it: using the edited file`
    : `${db} is not the one that ${journal} belongs to, which has no changes: using ${db}`;
}

function missingSnapshot({ db, journal }: Paths): GatewayError {
  return damaged(`${db} is missing, but ${journal} contains changes to it`, {
    hint: hint`Restore db.json, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}

function missingJournal({ db, journal }: Paths): GatewayError {
  return damaged(
    `${journal} is missing or empty: it contained the changes since ${db} was written, because gateway-sim was not stopped normally`,
    {
      hint: hint`Restore journal.jsonl, or remove journal.needed to continue from db.json as it is, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
    },
  );
}

/** @param isOurs whether db.json is the one that the changes belong to, but was edited */
function unusableEdit({ db, journal }: Paths, changes: number, isOurs: boolean): GatewayError {
  const count = changes === 1 ? '1 change' : `${changes} changes`;
  return damaged(
    isOurs
      ? `${db} was edited after gateway-sim was killed, but ${journal} has ${count} to the file before the edit`
      : `${journal} has ${count} to a db.json other than ${db}`,
    {
      hint: hint`To keep the changes, ${isOurs ? 'undo the edit' : 'restore the file that belongs to the other one'}. To use db.json without them, remove journal.jsonl and journal.needed. Or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
    },
  );
}
