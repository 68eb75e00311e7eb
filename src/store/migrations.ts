import { shortJson } from '../contract/address.ts';
import { hint, option } from '../contract/hint.ts';
import { damaged } from './files.ts';
import { isRecord } from './quick-check.ts';

/** Parsed JSON whose collections nobody has looked at yet. */
export type RawState = Readonly<Record<string, unknown>>;

/** One step from a version of the file format to the next. */
export interface Migration {
  /** The version that it reads; it makes the one after. */
  from: number;
  /** What it does, for the error of a step that fails: "payments get a currency". */
  describe: string;
  /**
   * Returns what the next version would have stored, and leaves its input alone. It works record by record: a line of
   * the journal comes through here too, and holds only the records that one change touched.
   */
  migrate: (state: RawState) => RawState;
}

/**
 * Every step since version 1, in order. A change of a record needs none where its schema has a default for what older
 * records lack, as `auto` of payments and `once` of deliveries have.
 */
export const MIGRATIONS: readonly Migration[] = [
  {
    from: 1,
    describe: 'what went wrong with attempts, and what happened to payments, becomes data',
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
];

type RawRecord = Record<string, unknown>;

/** A list with each of its records changed, by its name; what is no list is left for the schema to refuse. */
function each(name: string, list: unknown, change: (record: RawRecord) => RawRecord): RawRecord {
  if (list === undefined) return {};
  const changed = (one: unknown) => (isRecord(one) ? change(one) : one);
  return { [name]: Array.isArray(list) ? list.map(changed) : list };
}

/** Version of the file format: what the last step makes. */
export const SNAPSHOT_VERSION = MIGRATIONS.length + 1;

/**
 * A state, or a line of the journal, as this version would have stored it. A snapshot names its version; so does each
 * line of the journal from version 2 on (one without is of version 1). That a line does not rely on the snapshot
 * beside it makes a kill harmless at any time: a new snapshot may already be there, and old lines still behind it.
 *
 * @param version what `state` says that its version is
 * @param source what to call it in an error
 * @throws GatewayError `state_damaged` for a version that is none or newer than this, and for a step that throws
 */
export function migrate(
  state: RawState,
  version: unknown,
  source: string,
  steps: readonly Migration[] = MIGRATIONS,
): RawState {
  const newest = steps.length + 1;
  if (version === newest) return state;
  const known = knownVersion(version, newest, source);
  return steps.slice(known - 1).reduce((before, step) => {
    try {
      return step.migrate(before);
    } catch (error) {
      const what = `${source} cannot be migrated from version ${step.from} (${step.describe})`;
      throw damaged(`${what}: ${(error as Error).message}`, { cause: error });
    }
  }, state);
}

function knownVersion(version: unknown, newest: number, source: string): number {
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw damaged(`${source} is not a gateway-sim state: none has the version ${shortJson(version)}`);
  }
  if (version <= newest) return version;
  throw damaged(`${source} has the version ${version}; this gateway-sim reads up to ${newest}`, {
    hint: hint`It was written by a newer gateway-sim: use that one, or another ${option('dataDir')}.`,
  });
}
