import packaged from '../../fixtures/default.json' with { type: 'json' };
import { command, GatewayError, hint, usage } from '../contract/error.ts';
import { assertConsistent } from './consistency.ts';
import { emptySnapshot, type Snapshot } from './snapshot.ts';
import { readSnapshotFile } from './snapshot-file.ts';

/** The fixtures of the package, which a test validates: every start would pay for it. */
const PACKAGED: Snapshot = { ...emptySnapshot(), ...packaged };

/**
 * The state for a new folder and for a reset.
 *
 * @param own the path of the user's file. Missing merchants or wallets come from the packaged fixtures.
 * @param label the name of the option, for errors
 * @param currencies the currency codes from the options, in addition to the wallets' codes
 * @returns a function that reads the file once, so that later changes to the file do not affect a reset. It throws
 *   GatewayError `usage` if the file is missing or invalid.
 */
export function initialSnapshots(
  own: string | undefined,
  label: string,
  currencies: readonly string[],
): () => Promise<Snapshot> {
  if (own === undefined) return async () => PACKAGED;
  let snapshot: Promise<Snapshot> | undefined;
  return () => {
    snapshot ??= readOwn(own, label, currencies).catch((error) => {
      // Read the file again next time: the user may have fixed it.
      snapshot = undefined;
      throw error;
    });
    return snapshot;
  };
}

async function readOwn(path: string, label: string, currencies: readonly string[]): Promise<Snapshot> {
  try {
    const snapshot = await readSnapshotFile(path);
    if (!snapshot) throw usage(`${path} does not exist`);
    const whole = {
      ...snapshot,
      merchants: snapshot.merchants.length ? snapshot.merchants : PACKAGED.merchants,
      wallets: snapshot.wallets.length ? snapshot.wallets : PACKAGED.wallets,
    };
    assertConsistent(whole, path, currencies);
    return whole;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    throw usage(`${label}: ${error.message}`, {
      hint: hint`Write a sample fixtures file with: ${command('init')}`,
      cause: error,
    });
  }
}
