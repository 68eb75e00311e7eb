import { hint, option } from '../contract/error.ts';
import { shortJson } from '../contract/text.ts';
import { damaged } from './errors.ts';
import { isRecord } from './parse-records.ts';

/** A parsed state, or one of its records, that is not yet validated. */
export type RawState = Readonly<Record<string, unknown>>;

/** One step from a version of the file format to the next. */
export interface Migration {
  /** The version that it reads. It returns the next one. */
  from: number;
  /** Names the step in the error if it fails: "payments get a currency". */
  describe: string;
  /**
   * Returns the state as the next version stores it, and does not change its input. It must work record by record,
   * because it also migrates journal lines, which have only the records of one change.
   */
  migrate: (state: RawState) => RawState;
}

/**
 * Every step since version 1, in order. A new field that is not optional needs one, too: records that this version wrote
 * are used as they are, without their schema.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    from: 1,
    describe: 'failures of attempts and the history of payments become data',
    migrate: ({ payments, deliveries, attempts, ...rest }) => ({
      ...rest,
      ...each('payments', payments, ({ history, ...payment }) => ({
        ...payment,
        ...each('history', history, ({ detail, ...event }) => ({ ...event, value: detail })),
      })),
      ...each('deliveries', deliveries, ({ note: _, ...delivery }) => delivery),
      ...each('attempts', attempts, ({ error, ...attempt }) => ({
        ...attempt,
        failure: error == null ? null : { code: 'other', message: error },
      })),
    }),
  },
  {
    from: 2,
    describe: 'newer fields are no longer optional',
    migrate: ({ payments, deliveries, attempts, ...rest }) => ({
      ...rest,
      ...each('payments', payments, (payment) => ({ auto: null, ...payment })),
      ...each('deliveries', deliveries, (delivery) => ({
        once: false,
        tampered: [],
        signedAnew: false,
        postponedBy: null,
        ...delivery,
      })),
      ...each('attempts', attempts, (attempt) => ({ fault: null, ...attempt })),
    }),
  },
  { from: 3, describe: 'db.json gets an id, when it is written next', migrate: (state) => state },
];

/** Changes each record of a list. The schema rejects anything else later. */
function each(name: string, list: unknown, change: (record: RawState) => RawState): RawState {
  if (list === undefined) return {};
  const changed = (one: unknown) => (isRecord(one) ? change(one) : one);
  return { [name]: Array.isArray(list) ? list.map(changed) : list };
}

/** The current version of the file format. */
export const SNAPSHOT_VERSION = MIGRATIONS.length + 1;

/**
 * Migrates a snapshot or a journal line to the current version. A snapshot has a version, and so does each journal line
 * from version 2 on; a line without one has version 1. Lines have their own version because a kill can leave old lines
 * with a new snapshot.
 *
 * @param version the version in `state`
 * @param source the name of the state, for errors
 * @throws GatewayError `state_damaged` for an invalid or newer version, and if a step fails
 */
export function migrate(
  state: RawState,
  version: unknown,
  source: string,
  steps: readonly Migration[] = MIGRATIONS,
): RawState {
  const newest = steps.length + 1;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw damaged(`${source} is not a gateway-sim state: unknown version ${shortJson(version)}`);
  }
  if (version > newest) {
    throw damaged(`${source} has version ${version}, but this gateway-sim reads versions up to ${newest}`, {
      hint: hint`A newer gateway-sim wrote it. Use that version, or another ${option('dataDir')}.`,
    });
  }
  return steps.slice(version - 1).reduce((before, step) => {
    try {
      return step.migrate(before);
    } catch (error) {
      const what = `${source} cannot be migrated from version ${step.from} (${step.describe})`;
      throw damaged(`${what}: ${(error as Error).message}`, { cause: error });
    }
  }, state);
}
