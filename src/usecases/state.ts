import { GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import { SURROGATE_ESCAPE } from '../contract/input.ts';
import type { Merchant } from '../contract/merchant.ts';
import { type Preparation, prepare } from '../domain/bootstrap.ts';
import { State } from '../domain/state.ts';
import { assertConsistent } from '../store/integrity.ts';
import { parseSnapshot, type Snapshot } from '../store/snapshot.ts';
import { snapshotText } from '../store/snapshot-lines.ts';
import { resumeClock } from './clock.ts';
import type { UseCaseParts } from './parts.ts';

/** The state as a whole: back to the start, out, and in. */
export function stateUseCases(parts: UseCaseParts) {
  const { store, faults, events } = parts;
  return {
    /** All records of this moment, to be read. */
    get current(): State {
      return store.state;
    },

    /** Resolves when everything that `current` shows now is stored. @throws GatewayError `storage_failed` */
    stored: (): Promise<void> => store.stored(),

    /**
     * Back to the fixtures and fault rules that this server started with. Merchants stay and keep their keys, so that
     * running code goes on working; what is due is dropped; the clock is left alone, it never goes back.
     */
    async reset(): Promise<void> {
      const fixtures = await parts.initial();
      const snapshot = { ...fixtures, merchants: keptMerchants(store.state, fixtures) };
      // Pinned keys do not count: a pair that was generated since is one that running code has.
      await replace(parts, snapshot, { wallets: parts.preparation.wallets });
      faults.replace(parts.firstFaults);
      events.forget('the state was reset');
    },

    /** The whole state as of this moment, as text in slices: what db.json holds, and what `restore` takes. */
    snapshotText: (): Iterable<string> => snapshotText(store.snapshot()),

    /**
     * Puts a whole state in the place of the present one, its keys included unless the options pin them, all or
     * nothing. An older version is migrated.
     *
     * @param text what `snapshotText` gave
     * @throws GatewayError `unparseable_body` or `invalid_fields`, with nothing changed
     */
    async restore(text: Buffer): Promise<void> {
      await replace(parts, validated(text, parts.settings.currencies.keys()), parts.preparation);
      events.forget('a state was imported');
    },
  };
}

/** Brings a state in line with the options, in one write with the state itself: there is no half of it. */
async function replace(
  { store, settings, clock, renewIds }: UseCaseParts,
  snapshot: Snapshot,
  preparation: Preparation,
): Promise<void> {
  const { merchants, wallets } = snapshot;
  const part = new State();
  part.apply({ merchants, wallets });
  part.apply(prepare(part, preparation, settings).change);
  // A clock that was moved stays as it is: it never goes back.
  const isMoved = store.state.clock.size > 0;
  const whole = {
    ...snapshot,
    clock: isMoved ? [...store.state.clock.values()] : snapshot.clock,
    merchants: [...part.merchants.values()],
    wallets: [...part.wallets.values()],
  };
  const replaced = store.replace(whole);
  renewIds();
  await replaced;
  if (!isMoved) resumeClock(clock, store.state);
}

/** All merchants that there are, with the balances of the fixtures, and those that the fixtures have beside them. */
function keptMerchants(state: State, { merchants }: Snapshot): Merchant[] {
  const kept = [...state.merchants.values()].map((merchant) => ({
    ...merchant,
    balances: merchants.find(({ id }) => id === merchant.id)?.balances ?? {},
  }));
  return [...kept, ...merchants.filter(({ id }) => state.merchants.get(id) === undefined)];
}

/** What a state from outside is called in errors. */
const SOURCE = 'the imported state';

function validated(text: Buffer, currencies: Iterable<string>): Snapshot {
  try {
    const snapshot = parseSnapshot(parsed(text), SOURCE);
    assertConsistent(snapshot, SOURCE, currencies);
    return snapshot;
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'state_damaged') throw error;
    const { message, problems, problemCount } = error;
    throw new GatewayError('invalid_fields', message, {
      problems,
      problemCount,
      hint: hint`Nothing was changed. ${command('state export')} writes a state that can be imported.`,
      cause: error,
    });
  }
}

/** At once: the largest body takes seconds, and a state is imported when nothing else goes on. */
function parsed(body: Buffer): unknown {
  const text = body.toString().replace(/^\ufeff/, '');
  let json: unknown;
  try {
    json = SURROGATE_ESCAPE.test(text) ? JSON.parse(text, requireWellFormed) : JSON.parse(text);
  } catch (error) {
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('unparseable_body', `the body is not valid JSON: ${(error as Error).message}`, {
      cause: error,
    });
  }
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json;
  throw new GatewayError('unparseable_body', 'the body must be a JSON object');
}

function requireWellFormed(name: string, value: unknown): unknown {
  for (const text of [name, value]) {
    if (typeof text !== 'string' || text.isWellFormed()) continue;
    const problem = `${name.toWellFormed()} has a lone surrogate, half of a character that no file can hold`;
    throw new GatewayError('state_damaged', `${SOURCE} is damaged: ${problem}`);
  }
  return value;
}
