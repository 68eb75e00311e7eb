import { command, GatewayError, hint } from '../contract/error.ts';
import { parseJsonObject } from '../contract/json-body.ts';
import type { Merchant } from '../contract/merchant.ts';
import { type Preparation, prepare } from '../domain/bootstrap.ts';
import { State } from '../domain/state.ts';
import { assertConsistent } from '../store/consistency.ts';
import type { Snapshot } from '../store/snapshot.ts';
import { snapshotText } from '../store/snapshot-file.ts';
import { resumeClock } from './clock.ts';
import type { UseCaseDependencies } from './dependencies.ts';

/** Resets, exports and imports the whole state. */
export function stateUseCases(parts: UseCaseDependencies) {
  const { store, faults, events } = parts;
  return {
    /** Resolves when all current records are stored. @throws GatewayError `storage_failed` */
    stored: (): Promise<void> => store.stored(),

    /** What the terminal said about the stored state and the certificate, oldest first. */
    notices: (): readonly string[] => store.notices,

    /**
     * Restores the initial fixtures and fault rules. Merchants keep their keys, so that running code still works.
     * Due tasks are dropped, and the clock returns to the system's time or to that of the fixtures.
     */
    async reset(): Promise<void> {
      const fixtures = await parts.initial();
      const snapshot = { ...fixtures, merchants: keptMerchants(store.state, fixtures) };
      // Running code may use keys that were generated after the start, so pinned keys are not restored.
      await replace(parts, snapshot, { wallets: parts.preparation.wallets });
      // Only now: time that is released from a pause must not run tasks of the old state.
      await parts.clock.reset();
      resumeClock(parts.clock, store.state);
      faults.reset();
      events.forget('the state was reset');
      parts.rows.forget();
    },

    /** The whole current state as chunks of text, in the format of db.json and `restore`. */
    snapshotText: (): Iterable<string> => snapshotText(store.snapshot()),

    /**
     * Replaces the whole state or nothing. Its keys are replaced, too, unless the options pin them.
     *
     * @param text the text of `snapshotText`
     * @throws GatewayError `unparseable_body` or `invalid_fields`, with nothing changed
     */
    async restore(text: Buffer): Promise<void> {
      const snapshot = await validated(text, parts.settings.currencies.keys());
      // A moved clock keeps its time.
      const moved = [...store.state.clock.values()];
      await replace(parts, moved.length ? { ...snapshot, clock: moved } : snapshot, parts.preparation);
      if (!moved.length) resumeClock(parts.clock, store.state);
      events.forget('a state was imported');
    },
  };
}

/** Applies the options to a state and stores both in one write. */
async function replace(
  { store, settings, renewIds }: UseCaseDependencies,
  snapshot: Snapshot,
  preparation: Preparation,
): Promise<void> {
  const { merchants, wallets } = snapshot;
  const part = new State();
  part.apply({ merchants, wallets });
  part.apply(prepare(part, preparation, settings).change);
  const whole = {
    ...snapshot,
    merchants: [...part.merchants.values()],
    wallets: [...part.wallets.values()],
  };
  const replaced = store.replace(whole);
  renewIds();
  await replaced;
}

/** The current merchants with the balances of the fixtures, plus any merchants that only the fixtures have. */
function keptMerchants(state: State, { merchants }: Snapshot): Merchant[] {
  const kept = [...state.merchants.values()].map((merchant) => ({
    ...merchant,
    balances: merchants.find(({ id }) => id === merchant.id)?.balances ?? {},
  }));
  return [...kept, ...merchants.filter(({ id }) => state.merchants.get(id) === undefined)];
}

/** The name of an imported state in errors. */
const SOURCE = 'the imported state';

async function validated(text: Buffer, currencies: Iterable<string>): Promise<Snapshot> {
  const { parseSnapshot } = await import('../store/parse-snapshot.ts');
  try {
    // Synchronous: the largest body takes seconds, but nothing else runs during an import.
    const json = parseJsonObject(text.toString().replace(/^\ufeff/, ''));
    const snapshot = parseSnapshot(json, SOURCE);
    assertConsistent(snapshot, SOURCE, currencies);
    return snapshot;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'state_damaged') throw error;
    const { message, problems, problemCount } = error;
    throw new GatewayError('invalid_fields', message, {
      problems,
      problemCount,
      hint: hint`Nothing was changed. Write a state that can be imported with: ${command('state export')}`,
      cause: error,
    });
  }
}
