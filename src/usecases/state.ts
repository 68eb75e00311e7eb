import { GatewayError } from '../contract/error.ts';
import type { FaultRule } from '../contract/fault.ts';
import { command, hint } from '../contract/hint.ts';
import type { Merchant } from '../contract/merchant.ts';
import { type Preparation, prepare } from '../domain/bootstrap.ts';
import type { Faults } from '../domain/faults.ts';
import type { Settings } from '../domain/settings.ts';
import { State } from '../domain/state.ts';
import { assertConsistent } from '../store/integrity.ts';
import { parseSnapshot, type Snapshot, snapshotText } from '../store/snapshot.ts';
import { notice, type UseCaseParts } from './parts.ts';

/** What the use cases about the state as a whole work with. */
export interface StateParts extends Pick<UseCaseParts, 'store' | 'clock' | 'events' | 'settings'> {
  /** What this server started with. */
  initial: () => Promise<Snapshot>;
  preparation: Preparation;
  faults: Faults;
  firstFaults: readonly FaultRule[];
  /** With a seed: goes on with other ids than those that the new state may hold. */
  renewIds: () => void;
}

/** The use cases about the state as a whole: back to the start, out, and in. */
export class StateUseCases {
  readonly #parts: StateParts;

  constructor(parts: StateParts) {
    this.#parts = parts;
  }

  /** All records of this moment, to be read. */
  get current(): State {
    return this.#parts.store.state;
  }

  /**
   * Back to the fixtures and fault rules that this server started with. Merchants stay and keep their keys, so that
   * running code goes on working; what is due is dropped; the clock is left alone, it never goes back.
   */
  async reset(): Promise<void> {
    const { store, initial, faults, firstFaults, events } = this.#parts;
    const fixtures = await initial();
    const snapshot = { ...fixtures, merchants: keptMerchants(store.state, fixtures) };
    // Pinned keys do not count: a pair that was generated since is one that running code has.
    await this.#replace(snapshot, { wallets: this.#parts.preparation.wallets });
    faults.replace(firstFaults);
    events.forget();
    notice(this.#parts, 'the state was reset');
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
    this.#parts.events.forget();
    notice(this.#parts, 'a state was imported');
  }

  async #replace(snapshot: Snapshot, preparation: Preparation): Promise<void> {
    const { store, settings, renewIds } = this.#parts;
    const replaced = store.replace(prepared(snapshot, preparation, settings));
    renewIds();
    await replaced;
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
