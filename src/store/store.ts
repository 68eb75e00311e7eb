import { GatewayError } from '../contract/error.ts';
import { type Change, type Payment, type RuleResult, State, type Undo } from '../domain/state.ts';
import { onFolder } from '../system/files.ts';
import { Disk } from './disk.ts';
import { readFolder, type StoreFiles } from './read-folder.ts';
import { type Snapshot, type StoredChange, wholeState } from './snapshot.ts';

/*
 * The state is in memory, and two files are its copy. `db.json` is a snapshot: the whole state at one moment, for people
 * to read and edit. lowdb holds it while it is read and written (`Low` in read-folder.ts); its adapter is `SnapshotFile`.
 * `journal.jsonl` has every change since then. A change is acknowledged once it is in the journal, so that its cost does
 * not grow with the state; the journal also names the db.json that its changes belong to. A third file, `journal.needed`,
 * is there from the start to a normal stop: without it, db.json is the whole state.
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
  #state = new State();
  #disk: Disk | undefined;
  #closed = false;
  readonly #listeners: ChangeListener[] = [];
  /** Whether the folder already had a state. */
  found = false;
  /** Messages for the user about the files, such as a dropped incomplete line. More may follow while it is open. */
  readonly notices: string[] = [];

  private constructor() {}

  /** The current state. Read-only: use `commit` to change it. */
  get state(): State {
    return this.#state;
  }

  /** Creates a store without files. */
  static inMemory(initial: Snapshot): Store {
    const store = new Store();
    store.#state.apply(initial);
    return store;
  }

  /**
   * Opens the state of a folder, or creates it from `initial` if there is none.
   *
   * @throws GatewayError `state_damaged` if the state cannot be read, with its files unchanged; `storage_failed` if it
   *   cannot be written
   */
  static async open(files: StoreFiles, initial: () => Promise<Snapshot>): Promise<Store> {
    const store = new Store();
    await onFolder(files.folder, async () => {
      const found = await readFolder(files, store.notices);
      store.found = found.state !== null;
      if (found.state) store.#state = found.state;
      else store.#state.apply(await initial());
      store.#disk = await Disk.open(found.files, files, () => store.#state);
    });
    return store;
  }

  /**
   * Reads the state of a folder that no process uses. Neither changes nor locks it.
   *
   * @returns null if nothing is stored
   * @throws GatewayError `state_damaged` if the state cannot be read
   */
  static async read(folder: string): Promise<Snapshot | null> {
    const { state } = await onFolder(folder, () => readFolder({ folder, fsync: false }));
    return state && wholeState(state);
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
    const { change, result } = rule(this.#state);
    const before = change.payments?.map(({ id }) => this.#state.payments.get(id));
    await this.#store(change, change, () => this.#state.apply(change), before);
    return result;
  }

  /** Replaces the whole state, all or nothing. */
  async replace({ version: _, ...change }: Snapshot): Promise<void> {
    const apply = () => {
      const previous = this.#state;
      this.#state = new State();
      this.#state.apply(change);
      return () => {
        this.#state = previous;
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
    if (this.#disk) return this.#disk.write(stored, apply, emit);
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
    return wholeState(this.#state);
  }

  /** Copies of a db.json that was edited and then replaced. */
  get keptEdits(): readonly string[] {
    return this.#disk?.keptEdits ?? [];
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
