import { lstatSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Low } from 'lowdb';
import { command, type GatewayError, hint, option } from '../contract/error.ts';
import { State } from '../domain/state.ts';
import { assertConsistent, assertUniqueIds } from './consistency.ts';
import { changedByBoth } from './edits.ts';
import { damaged } from './errors.ts';
import { type JournalContent, type JournalOptions, readJournal } from './journal.ts';
import { emptySnapshot, type Snapshot, wholeState } from './snapshot.ts';
import { SnapshotFile } from './snapshot-file.ts';

/** Where a store keeps its state. */
export interface StoreFiles extends JournalOptions {
  /** The data folder, which must exist. The caller must have locked it. */
  folder: string;
  /** Currency codes from the options, in addition to the codes of the state's wallets. */
  currencies?: Iterable<string>;
  /** Called once when changes can no longer be stored. */
  warn?: (text: string) => void;
}

const NO_JOURNAL: JournalContent = {
  marks: [],
  written: [],
  isCurrent: false,
  changes: [],
  end: { bytes: 0, last: 0, changes: 0 },
  isCut: false,
  tornBytes: 0,
};

/**
 * Reads the files of a folder, and checks that they belong together. Does not change them.
 *
 * @param notices gets messages for the user
 * @returns the state, or null if nothing is stored
 * @throws GatewayError `state_damaged`, or the file system's error
 */
export async function readFolder({ folder, fsync, currencies = [] }: StoreFiles, notices: string[] = []) {
  const paths = {
    db: join(folder, 'db.json'),
    journal: join(folder, 'journal.jsonl'),
    /** Exists while changes may be only in the journal. */
    needed: join(folder, 'journal.needed'),
  };
  const journal = await readJournal(paths.journal);
  const { marks, written, isCurrent, changes, end, isCut, tornBytes } = journal ?? NO_JOURNAL;
  const file = new SnapshotFile(paths.db, { written, fsync });
  const low = new Low<Snapshot>(file, emptySnapshot());
  await low.read();
  const snapshot = low.data;
  low.data = emptySnapshot();
  const isThere = file.sha256 !== undefined;
  const unedited = marks.find(({ db }) => db === file.sha256);
  const mark = unedited ?? marks.find(({ id }) => id !== undefined && id === file.id);
  if (!isThere && (end.changes || end.last)) throw missingSnapshot(paths);
  if (isThere && !end.bytes && isNeeded(paths.needed)) throw missingJournal(paths);
  if (isThere && !mark && marks.length && end.changes) throw otherJournal(paths, end.changes);
  if (tornBytes) {
    notices.push(
      `${paths.journal}: dropped a torn last line of ${tornBytes} bytes, which was never acknowledged`,
    );
  }
  const isEdited = isThere && !unedited;
  if (isEdited) assertUniqueIds(snapshot, paths.db);
  let state = new State();
  state.apply(snapshot);
  const later = changes.filter(({ number }) => number > (mark?.after ?? 0));
  const conflicts = isEdited && mark ? changedByBoth(state, later) : [];
  for (const { change } of later) {
    if (change.reset) state = new State();
    state.apply(change);
  }
  if (isEdited) assertConsistent(wholeState(state), paths.db, currencies);
  if (isEdited && marks.length) notices.push(editNotice(paths, mark !== undefined, later.length));
  return {
    state: isThere ? state : null,
    files: {
      paths,
      low,
      file,
      end,
      isCut,
      /** Whether the journal belongs to db.json. */
      isOurs: mark !== undefined,
      /** Whether both files can be used as they are. */
      isCurrent: isCurrent && !isEdited,
      conflicts,
      notices,
    },
  };
}

export type FoundFiles = Awaited<ReturnType<typeof readFolder>>['files'];
type Paths = FoundFiles['paths'];

const isNeeded = (path: string) => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const changesText = (count: number) => (count === 1 ? '1 change' : `${count} changes`);

function editNotice({ db, journal }: Paths, isOurs: boolean, changes: number): string {
  if (!isOurs) return `${db} is not the one that ${journal} belongs to, which has no changes: using ${db}`;
  if (!changes) return `${db} was changed after gateway-sim wrote it: using the changed file`;
  return `${db} was edited after gateway-sim wrote it: using the edited file with the ${changesText(changes)} in ${journal}`;
}

function missingSnapshot({ db, journal }: Paths): GatewayError {
  return damaged(`${db} is missing, but ${journal} contains changes to it`, {
    hint: hint`Restore db.json, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}

function missingJournal({ db, journal, needed }: Paths): GatewayError {
  return damaged(
    `${journal} is missing or empty: it contained the changes since ${db} was written, because gateway-sim was not stopped normally`,
    {
      hint: hint`Restore journal.jsonl, or remove ${basename(needed)} to continue from db.json as it is, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
    },
  );
}

function otherJournal({ db, journal, needed }: Paths, changes: number): GatewayError {
  return damaged(`${journal} has ${changesText(changes)} to a db.json other than ${db}`, {
    hint: hint`Restore the file that belongs to the other one, or remove journal.jsonl and ${basename(needed)} to continue from db.json without these changes, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}
