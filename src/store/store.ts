import { Low, Memory } from 'lowdb';
import { GatewayError } from '../contract/error.ts';
import { type Change, type Payment, type RuleResult, State, type Undo } from '../domain/state.ts';
import { onFolder } from '../system/files.ts';
import type { Disk, StoreFiles } from './disk.ts';
import { type Snapshot, type StoredChange, wholeState } from './snapshot.ts';

/*
 * lowdb's `Low` holds the state in memory, and two files are its copy. `db.json` is a snapshot: the whole state at one
 * moment, for people to read and edit. `journal.jsonl` has every change since then. A change is acknowledged once it is
 * in the journal, so that its cost does not grow with the state; the journal also names the db.json that its changes
 * belong to. lowdb reads both, and writes snapshots, through the adapter `Disk`; in memory, through its own `Memory`. A
 * third file, `journal.needed`, is there from the start to a normal stop: without it, db.json is the whole state.
 */

/**
 * @param replaced whether the change replaces the whole state. A listener must then forget all earlier records.
 * @param before the payments in the change as they were before it, in the same order; undefined for new ones
 */
type ChangeListener = (change: Change, replaced: boolean, before: readonly (Payment | undefined)[]) => void;

/**
 * The only owner of the state. It applies a change in memory immediately. It appends all changes of one turn of
 * the event loop to the journal together, and acknowledges them when they are written.
 */
export class Store {
  /** Its data is the current state. Read-only for others: `commit` changes it. */
  readonly db: Low<State>;
  /** Undefined in memory. */
  readonly #disk: Disk | undefined;
  #closed = false;
  readonly #listeners: ChangeListener[] = [];
  /** Whether the folder already had a state. */
  readonly found: boolean;
  /** Messages for the user about the files, such as a dropped incomplete line. More may follow while it is open. */
  readonly notices: string[];

  private constructor(db: Low<State>, disk?: Disk, found = false) {
    this.db = db;
    this.#disk = disk;
    this.found = found;
    this.notices = disk?.notices ?? [];
  }

  /** The current state. Read-only: use `commit` to change it. */
  get state(): State {
    return this.db.data;
  }

  /** Creates a store without files. */
  static inMemory(initial: Snapshot): Store {
    const db = new Low(new Memory<State>(), new State());
    db.data.apply(initial);
    return new Store(db);
  }

  /**
   * Opens the state of a folder, or creates it from `initial` if there is none.
   *
   * @throws GatewayError `state_damaged` if the state cannot be read, with its files unchanged; `storage_failed` if it
   *   cannot be written
   */
  static open(files: StoreFiles, initial: () => Promise<Snapshot>): Promise<Store> {
    return onFolder(files.folder, async () => {
      const { db, disk, found } = await read(files);
      if (!found) db.data.apply(await initial());
      await disk.open(db);
      return new Store(db, disk, found);
    });
  }

  /**
   * Reads the state of a folder that no process uses. Neither changes nor locks it.
   *
   * @returns null if nothing is stored
   * @throws GatewayError `state_damaged` if the state cannot be read
   */
  static async read(folder: string): Promise<Snapshot | null> {
    const { db, found } = await onFolder(folder, () => read({ folder, fsync: false }));
    return found ? wholeState(db.data) : null;
  }

  /** Calls the listener after each change is stored, in the order of the commits. */
  onChange(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Runs a rule on the state and stores its change.
   *
   * @returns the rule's result, once the change is in the journal
   * @throws the rule's error, with nothing changed; GatewayError `storage_failed` if the journal cannot be written, with
   *   the change rolled back
   */
  async commit<Result>(rule: (state: State) => RuleResult<Result>): Promise<Result> {
    const { change, result } = rule(this.state);
    const before = change.payments?.map(({ id }) => this.state.payments.get(id));
    await this.#store(change, change, () => this.state.apply(change), before);
    return result;
  }

  /** Replaces the whole state, all or nothing. */
  async replace({ version: _, ...change }: Snapshot): Promise<void> {
    const apply = () => {
      const previous = this.db.data;
      this.db.data = new State();
      this.db.data.apply(change);
      return () => {
        this.db.data = previous;
      };
    };
    await this.#store(change, { reset: true, ...change }, apply);
    await this.#disk?.renew();
  }

  /** Returns a promise if the caller must wait. */
  #store(
    change: Change,
    stored: StoredChange,
    apply: () => Undo,
    before: readonly (Payment | undefined)[] = [],
  ): Promise<void> | undefined {
    if (this.#closed)
      throw new GatewayError('storage_failed', 'the emulator is stopping and accepts no more changes');
    const emit = () => {
      for (const listener of this.#listeners) listener(change, stored.reset === true, before);
    };
    if (this.#disk) return this.#disk.append(stored, apply, emit);
    apply();
    emit();
    return undefined;
  }

  /**
   * Resolves when the current state is stored.
   *
   * @throws GatewayError `storage_failed` if changes could not be stored and were rolled back
   */
  async stored(): Promise<void> {
    await this.#disk?.stored();
  }

  /** The current state as plain records. */
  snapshot(): Snapshot {
    return wholeState(this.state);
  }

  /** Whether the folder had been removed, moved or replaced when the store was closed. */
  get isLost(): boolean {
    return this.#disk?.isLost ?? false;
  }

  /** Stores pending changes, writes a last snapshot and closes the files. Later commits fail. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#disk?.close();
  }
}

async function read(files: StoreFiles) {
  const { Disk } = await import('./disk.ts');
  const disk = new Disk(files);
  const unread = new State();
  const db = new Low<State>(disk, unread);
  await db.read();
  return { db, disk, found: db.data !== unread };
}
