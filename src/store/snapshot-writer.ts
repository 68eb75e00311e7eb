import type { Low } from 'lowdb';
import type { State } from '../domain/state.ts';
import { clearTimeout, setTimeout } from '../system/real-time.ts';
import type { Batches } from './batches.ts';
import { outdated } from './errors.ts';
import type { Journal, Mark } from './journal.ts';
import { emptySnapshot, type Snapshot, wholeState } from './snapshot.ts';
import type { SnapshotFile } from './snapshot-file.ts';

/** A state with at most this many records gets a snapshot a second after its last change: people open the file. */
const SMALL_STATE = 5_000;
const SNAPSHOT_DELAY_MS = 1_000;
/** A larger state gets one when its journal has outgrown db.json and this size, so that the cost of a change stays the same. */
const MIN_BYTES = 8 * 2 ** 20;

interface SnapshotWriterDependencies {
  low: Low<Snapshot>;
  file: SnapshotFile;
  journal: Journal;
  batches: Batches;
  stateOf: () => State;
  /** Reports the failure of a snapshot. */
  report: (text: string) => void;
  /** Called after each planned snapshot. */
  onWritten: () => void;
}

/** Decides when db.json is written again, and writes it. */
export class SnapshotWriter {
  readonly #parts: SnapshotWriterDependencies;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #stopped = false;

  constructor(parts: SnapshotWriterDependencies) {
    this.#parts = parts;
    parts.batches.onFlush = () => this.plan();
  }

  /** Plans a snapshot if the journal has changes. */
  plan(): void {
    const { file, journal, stateOf } = this.#parts;
    if (this.#stopped || this.#writing || !journal.end.changes) return;
    const isOutgrown = journal.end.bytes > Math.max(MIN_BYTES, file.size);
    if (!isOutgrown && stateOf().size <= SMALL_STATE) {
      if (this.#timer) this.#timer.refresh();
      else this.#timer = setTimeout(() => this.#start(), SNAPSHOT_DELAY_MS).unref();
      return;
    }
    this.#clearTimer();
    // No timer here: each batch would restart it, so it would never fire under load.
    if (isOutgrown) this.#start();
  }

  /** Writes a snapshot now, after the current one. Its failure is only reported. */
  async renew(): Promise<void> {
    await this.#writing;
    if (!this.#stopped) this.#start();
    await this.#writing;
  }

  /** Plans no more snapshots. Resolves when the current one has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#clearTimer();
    await this.#writing;
  }

  #clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #start(): void {
    this.#clearTimer();
    this.#writing ??= this.write().then(
      () => {
        this.#writing = undefined;
        this.#parts.onWritten();
        this.plan();
      },
      (error: Error) => {
        // The journal still has all changes. The next change triggers another snapshot.
        this.#writing = undefined;
        this.#parts.report(outdated(error));
      },
    );
  }

  /**
   * Writes the current state and drops the journal lines that it includes. A kill is harmless at any time: the journal
   * names the new db.json, and the last line that it includes, before it replaces the old one, and keeps all lines until
   * then.
   */
  async write(): Promise<void> {
    const { batches, file, journal, low, stateOf } = this.#parts;
    const { failure } = batches;
    journal.assertOurs();
    const { since, snapshot } = await batches.between(() => ({
      since: journal.end,
      snapshot: wholeState(stateOf()),
    }));
    // The snapshot may include changes that were not yet in the journal. After this turn they are written or rolled
    // back. A snapshot with changes that were rolled back is discarded.
    await batches.between(() => {});
    if (batches.failure !== failure) throw new Error('changes were rolled back during the snapshot');
    file.announce = (written) => this.#announce({ ...written, after: since.last });
    await writeSnapshot(low, snapshot);
    const closeOld = await batches.between(() => journal.rebase(markOf(file, since.last), since));
    await closeOld();
  }

  async #announce(mark: Mark): Promise<void> {
    const { batches, journal } = this.#parts;
    journal.assertOurs();
    await batches.between(() => journal.announce(mark));
    // Outside `between`, so that appends can continue: after a heavy load, this takes a tenth of a second.
    await journal.sync();
  }
}

/** Writes a snapshot. Afterwards lowdb must not hold it: its records would stay in memory after they are replaced. */
export async function writeSnapshot(low: Low<Snapshot>, snapshot: Snapshot): Promise<void> {
  low.data = snapshot;
  await low.write().finally(() => {
    low.data = emptySnapshot();
  });
}

/** @param after the number of the last line that db.json includes; above 0, so that a missing db.json is detected */
export function markOf({ id, sha256 = '' }: SnapshotFile, after: number): Mark {
  return { id, db: sha256, after };
}
