import type { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { damaged } from './files.ts';
import type { readJournal } from './journal.ts';

type Paths = Readonly<{ db: string; journal: string }>;

/**
 * Checks that a journal and db.json belong together.
 *
 * @param sha256 the hash of db.json; null if there is none
 * @param isAlone whether db.json is the only file in its folder: a user put it there, so no journal was lost
 * @param read the result of reading the journal; undefined if there is none
 * @param isNewer whether the journal's changes lead to a different state from db.json's
 * @returns the end of the journal, the generation of its snapshot (0 if unknown), whether db.json is a different
 *   snapshot, and messages for the user
 * @throws GatewayError `state_damaged`
 */
export function requireMatch(
  paths: Paths,
  { sha256, isAlone }: { sha256: string | null; isAlone: boolean },
  read: Awaited<ReturnType<typeof readJournal>>,
  isNewer: () => boolean,
) {
  const nothing = { bytes: 0, last: 0, changes: 0, isCut: false };
  if (!read) {
    if (sha256 !== null && !isAlone) throw missingJournal(paths);
    return { end: nothing, generation: 0, isReplaced: false, notices: [] };
  }
  const { lines, bytes, tornBytes, isCut } = read;
  const { last, changes } = lines;
  const { generation = 0 } = lines.base ?? {};
  // In a new folder, the journal is created just before db.json.
  if (sha256 === null && (changes || generation > 1)) throw missingSnapshot(paths);
  const isReplaced = sha256 !== null && lines.base !== undefined && !lines.belongsTo(sha256);
  if (isReplaced && changes && isNewer()) throw otherSnapshot(paths, changes);
  const notices = [
    ...(tornBytes
      ? [`${paths.journal}: dropped a torn last line of ${tornBytes} bytes, which was never acknowledged`]
      : []),
    ...(isReplaced && !changes
      ? [`${paths.db} was changed after gateway-sim wrote it: using the changed file`]
      : []),
  ];
  const end = sha256 === null ? nothing : { bytes, last, changes, isCut };
  return { end, generation: sha256 === null ? 0 : generation, isReplaced, notices };
}

function missingSnapshot({ db, journal }: Paths): GatewayError {
  const advice = hint`Restore db.json, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`;
  return damaged(`${db} is missing, but ${journal} contains changes to it`, { hint: advice });
}

function missingJournal({ db, journal }: Paths): GatewayError {
  return damaged(`${journal} is missing: it contained the changes since ${db} was written`, {
    hint: hint`Restore journal.jsonl, or create an empty one to continue from db.json as it is, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}

function otherSnapshot({ db, journal }: Paths, changes: number): GatewayError {
  const count = changes === 1 ? '1 change' : `${changes} changes`;
  return damaged(`${journal} has ${count} to a db.json other than ${db}`, {
    hint: hint`Restore the original db.json, or clear journal.jsonl to continue without its changes, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}
