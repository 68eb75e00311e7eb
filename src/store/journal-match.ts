import type { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { damaged } from './files.ts';
import type { readJournal } from './journal.ts';

type Paths = Readonly<{ db: string; journal: string }>;

/**
 * Makes sure that a journal and the db.json beside it belong together.
 *
 * @param sha256 of db.json; null when there is none
 * @param isAlone whether db.json is all that is in its folder: somebody put a state there, and no journal was lost
 * @param read undefined when there is no journal
 * @param isNewer whether the journal's changes made another state than that of db.json
 * @returns where the journal ends, of which generation its snapshot is (0: it does not say), whether db.json is another
 *   one than that, and what the user should know
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
    if (sha256 !== null && !isAlone) throw withoutJournal(paths);
    return { end: nothing, generation: 0, isOther: false, notices: [] };
  }
  const { lines, bytes, tornBytes, isCut } = read;
  const { last, changes } = lines;
  const { generation = 0 } = lines.base ?? {};
  // The journal of a new folder is there a moment before its db.json.
  if (sha256 === null && (changes || generation > 1)) throw withoutSnapshot(paths);
  const isOther = sha256 !== null && lines.base !== undefined && !lines.belongsTo(sha256);
  if (isOther && changes && isNewer()) throw otherSnapshot(paths, changes);
  const notices = [
    ...(tornBytes
      ? [`${paths.journal}: dropped a torn last line of ${tornBytes} bytes, which was never acknowledged`]
      : []),
    ...(isOther && !changes
      ? [`${paths.db} was changed since gateway-sim wrote it, and is taken as it is`]
      : []),
  ];
  const end = sha256 === null ? nothing : { bytes, last, changes, isCut };
  return { end, generation: sha256 === null ? 0 : generation, isOther, notices };
}

function withoutSnapshot({ db, journal }: Paths): GatewayError {
  const advice = hint`Put db.json back, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`;
  return damaged(`${db} is missing, but ${journal} beside it holds changes to it`, { hint: advice });
}

function withoutJournal({ db, journal }: Paths): GatewayError {
  return damaged(`${journal} is missing, which holds what changed since ${db} was written`, {
    hint: hint`Put journal.jsonl back, or make an empty one to go on from db.json as it is, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}

function otherSnapshot({ db, journal }: Paths, changes: number): GatewayError {
  const held = changes === 1 ? 'a change' : `${changes} changes`;
  return damaged(`${journal} holds ${held} to another db.json than ${db}`, {
    hint: hint`Put the db.json back that was there, or empty journal.jsonl to go on from this one without them, or start over with: ${command('state reset')} (or another ${option('dataDir')}).`,
  });
}
