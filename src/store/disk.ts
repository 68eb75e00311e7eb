import { writeFile } from 'node:fs/promises';
import { hint, option } from '../contract/error.ts';
import type { State, Undo } from '../domain/state.ts';
import { isCreated, removeFile, unwritable } from '../system/files.ts';
import { Batches } from './batches.ts';
import { checksumsOf } from './edits.ts';
import { outdated } from './errors.ts';
import { Journal } from './journal.ts';
import type { FoundFiles, StoreFiles } from './read-folder.ts';
import { changeText, type StoredChange, wholeState } from './snapshot.ts';
import { keepEdited } from './snapshot-file.ts';
import { markOf, SnapshotWriter, writeSnapshot } from './snapshot-writer.ts';

/** The text of `journal.needed`, which is there while an emulator runs and after a kill. */
const NEEDED =
  'gateway-sim is running, or was not stopped normally: journal.jsonl may have changes that db.json lacks.\n';

/** The state on disk: a snapshot in `db.json` and the changes since then in `journal.jsonl`. */
export class Disk {
  readonly #journal: Journal;
  readonly #batches: Batches;
  readonly #snapshots: SnapshotWriter;
  readonly #stateOf: () => State;
  readonly #warn: (text: string) => void;
  /** The last warning, since a change and a snapshot can fail for the same reason. */
  #warned: string | undefined;
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
    file.onEdit = (kept) => {
      const text = `${paths.db} was edited while gateway-sim was using it: the edit has no effect and is kept as ${kept} (stop the emulator before you edit, or use state import)`;
      this.keptEdits.push(kept);
      notices.push(text);
      this.#report(text);
    };
    this.#needed = paths.needed;
    this.#journal = journal;
    const report = (text: string) => this.#report(text);
    const batches = new Batches(journal, report);
    const onWritten = () => {
      this.#warned = undefined;
    };
    this.#batches = batches;
    this.#snapshots = new SnapshotWriter({ low, file, journal, batches, stateOf, report, onWritten });
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
    disk.#snapshots.plan();
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
    await this.#snapshots.write();
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
  renew(): Promise<void> {
    return this.#snapshots.renew();
  }

  /**
   * Stores pending changes, writes a last snapshot and closes the files. Warns if `db.json` is out of date: nothing is
   * lost, but people who read it should know.
   */
  async close(): Promise<void> {
    await this.#snapshots.stop();
    await this.#batches.between(() => {});
    try {
      if (this.#journal.end.changes) await this.#snapshots.write();
    } catch (error) {
      this.#report(outdated(error));
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
}

/** Starts a journal: in a new folder, after format 1, or for a db.json that a person put there. Writes both files. */
async function newJournal(
  { paths, low, file, end }: FoundFiles,
  files: StoreFiles,
  state: State,
): Promise<Journal> {
  try {
    // First db.json: it needs no journal, but it must have the changes of an old one.
    await writeSnapshot(low, wholeState(state));
    return await Journal.create(paths.journal, markOf(file, end.last + 1), files);
  } catch (error) {
    const fix = hint`Free disk space, choose another folder with ${option('dataDir')}, or use ${option('inMemory')}.`;
    throw unwritable(paths.db, error, fix);
  }
}

/** A notice is one line. */
const MAX_NAMED = 20;

function listText(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : '';
  return names.slice(0, MAX_NAMED).join(', ') + more;
}
