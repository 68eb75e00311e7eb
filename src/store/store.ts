import { Low, Memory } from 'lowdb';
import { GatewayError } from '../contract/error.ts';
import {
  type Change,
  type Contents,
  type Payment,
  type RuleResult,
  State,
  type Undo,
} from '../domain/state.ts';
import { Disk, type Shadowed } from './disk.ts';
import type { StoreFiles } from './files.ts';
import { emptySnapshot, type Snapshot, type StoredChange, snapshotOf } from './snapshot.ts';

/**
 * @param replaced the change is the whole state that took the place of the one before: a listener that remembers
 *   records of that must forget them
 * @param before the payments of the change as they were before it, in their order; undefined for those that are new
 */
type ChangeListener = (change: Change, replaced: boolean, before: readonly (Payment | undefined)[]) => void;

/**
 * The only owner of the state. It is in memory; the files are its shadow: a change is applied at once, appended to
 * the journal together with whatever else came in the same turn, and acknowledged when that is written.
 */
export class Store {
  #state = new State();
  #disk: Disk | undefined;
  #closed = false;
  readonly #listeners: ChangeListener[] = [];
  /** Whether there was a state before this run. */
  found = false;
  /** Something the user should know about what was found on disk, such as a dropped torn line. */
  readonly notices: string[] = [];

  private constructor() {}

  /** The state as of the last commit. Read only: changes go through `commit`. */
  get state(): State {
    return this.#state;
  }

  /** Of all records. */
  get size(): number {
    return this.#state.size;
  }

  /** A store that forgets everything when the process ends. */
  static async inMemory(initial: Snapshot): Promise<Store> {
    const store = new Store();
    const low = new Low(new Memory<Snapshot>(), initial);
    await low.read();
    store.#load(low.data);
    return store;
  }

  /**
   * Opens the state of a folder, or starts it with `initial` where there is none.
   *
   * @throws GatewayError `state_damaged` when what is there cannot be read, `storage_failed` when it cannot be written
   */
  static async open(files: StoreFiles, initial: () => Promise<Snapshot>): Promise<Store> {
    const store = new Store();
    store.#disk = await Disk.open(files, store.#shadowed(initial));
    return store;
  }

  /**
   * The state of a folder that nobody has: neither the folder nor its files are changed or taken.
   *
   * @returns null where nothing is stored
   * @throws GatewayError `state_damaged` when what is there cannot be read
   */
  static async read(folder: string): Promise<Snapshot | null> {
    const store = new Store();
    await Disk.read(
      folder,
      store.#shadowed(async () => emptySnapshot()),
    );
    return store.found ? store.snapshot() : null;
  }

  #shadowed(initial: () => Promise<Snapshot>): Shadowed {
    const store = this;
    return {
      get state() {
        return store.state;
      },
      notices: this.notices,
      load: async (snapshot) => {
        this.found = snapshot !== null;
        this.#load(snapshot ?? (await initial()));
      },
      replay: ({ reset, ...change }) => {
        if (reset) this.#load(change);
        else this.#state.load(change);
      },
    };
  }

  #load(records: Contents): void {
    this.#state = new State();
    this.#state.load(records);
  }

  /** Calls the listener after each change is stored, in the order of the commits. */
  onChange(listener: ChangeListener): void {
    this.#listeners.push(listener);
  }

  /**
   * Runs a rule on the state and stores what it changes.
   *
   * @returns what the rule returned, once the change is in the journal
   * @throws what the rule throws, with nothing changed; GatewayError `storage_failed` when the journal cannot be
   *   written, with the change rolled back
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
      this.#load(change);
      return () => {
        this.#state = previous;
      };
    };
    await this.#store(change, { reset: true, ...change }, apply);
  }

  /** Returns what must be waited for, if anything. */
  #store(
    change: Change,
    stored: StoredChange,
    apply: () => Undo,
    before: readonly (Payment | undefined)[] = [],
  ): Promise<void> | undefined {
    if (this.#closed)
      throw new GatewayError('storage_failed', 'the emulator is stopping and takes no more changes');
    const emit = () => {
      for (const listener of this.#listeners) listener(change, stored.reset === true, before);
    };
    if (this.#disk) return this.#disk.write(stored, apply, emit);
    apply();
    emit();
    return undefined;
  }

  /**
   * Resolves when everything that `state` shows now is stored.
   *
   * @throws GatewayError `storage_failed` when some of it could not be, and is not there any more
   */
  async stored(): Promise<void> {
    await this.#disk?.stored();
  }

  /** The whole state as plain records, as of this moment. */
  snapshot(): Snapshot {
    return snapshotOf((name) => [...this.#state[name].values()]);
  }

  /** Whether the folder was removed, moved or replaced and was not back when it was closed. */
  get isLost(): boolean {
    return this.#disk?.isLost ?? false;
  }

  /** Stores what is pending, writes a last snapshot and lets go of the files. Nothing can be committed any more. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#disk?.close();
  }
}
