import { GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import type { Merchant } from '../contract/merchant.ts';
import { type Preparation, prepare } from '../domain/bootstrap.ts';
import type { FaultRule } from '../domain/fault.ts';
import type { Faults } from '../domain/faults.ts';
import { type Context, type Settings, timestamp } from '../domain/settings.ts';
import { State } from '../domain/state.ts';
import { assertConsistent } from '../store/integrity.ts';
import { parseSnapshot, type Snapshot, snapshotText } from '../store/snapshot.ts';
import type { Store } from '../store/store.ts';
import type { EventLog } from './event-log.ts';

/** What the use cases about the state as a whole work with. */
export interface StateParts {
  store: Store;
  /** What this server started with. */
  initial: () => Promise<Snapshot>;
  preparation: Preparation;
  settings: Settings;
  faults: Faults;
  firstFaults: readonly FaultRule[];
  activity: EventLog;
  context: () => Context;
  /** With a seed: goes on with other ids than those that the new state may hold. */
  renewIds: () => void;
}

/** The use cases about the state as a whole: back to the start, out, and in. */
export class StateUseCases {
  readonly #parts: StateParts;

  constructor(parts: StateParts) {
    this.#parts = parts;
  }

  /**
   * Back to the fixtures and fault rules that this server started with. Merchants stay and keep their keys, so that
   * running code goes on working; what is due is dropped; the clock is left alone, it never goes back.
   */
  async reset(): Promise<void> {
    const { store, initial, faults, firstFaults, activity } = this.#parts;
    const fixtures = await initial();
    const snapshot = { ...fixtures, merchants: keptMerchants(store.state, fixtures) };
    // Pinned keys do not count: a pair that was generated since is one that running code has.
    await this.#replace(snapshot, { wallets: this.#parts.preparation.wallets });
    faults.replace(firstFaults);
    activity.forget();
    this.#notice('the state was reset');
  }

  /** The whole state as of this moment, as text in slices: what db.json holds, and what `restore` takes. */
  snapshotText(): Iterable<string> {
    return snapshotText(this.#parts.store.snapshot());
  }

  /**
   * Puts a whole state in the place of the present one, its keys included unless the options pin them, all or
   * nothing. An older version is migrated.
   *
   * @param json what `snapshotText` gave, parsed
   * @throws GatewayError `invalid_fields`, with nothing changed
   */
  async restore(json: unknown): Promise<void> {
    await this.#replace(validated(json), this.#parts.preparation);
    this.#parts.activity.forget();
    this.#notice('a state was imported');
  }

  async #replace(snapshot: Snapshot, preparation: Preparation): Promise<void> {
    const { store, settings, renewIds } = this.#parts;
    const replaced = store.replace(prepared(snapshot, preparation, settings));
    renewIds();
    await replaced;
  }

  #notice(text: string): void {
    this.#parts.activity.notice(timestamp(this.#parts.context().now), text);
  }
}

/** A state in line with the options. In one write with the state itself: there is no half of it. */
function prepared(snapshot: Snapshot, preparation: Preparation, settings: Settings): Snapshot {
  const { merchants, wallets } = snapshot;
  const part = new State();
  part.apply({ merchants, wallets });
  part.apply(prepare(part, preparation, settings).change);
  return { ...snapshot, merchants: [...part.merchants.values()], wallets: [...part.wallets.values()] };
}

/** All merchants that there are, with the balances of the fixtures, and those that the fixtures have beside them. */
function keptMerchants(state: State, { merchants }: Snapshot): Merchant[] {
  const kept = [...state.merchants.values()].map((merchant) => ({
    ...merchant,
    balances: merchants.find(({ id }) => id === merchant.id)?.balances ?? {},
  }));
  return [...kept, ...merchants.filter(({ id }) => state.merchants.get(id) === undefined)];
}

function validated(json: unknown): Snapshot {
  const source = 'the imported state';
  try {
    const snapshot = parseSnapshot(json, source, { knownKeysOnly: true });
    assertConsistent(snapshot, source);
    return snapshot;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw new GatewayError('invalid_fields', error.message, {
      hint: hint`Nothing was changed. ${command('state export')} writes a state that can be imported.`,
      cause: error,
    });
  }
}
