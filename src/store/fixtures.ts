import { command, GatewayError, hint, usage } from '../contract/error.ts';
import { assertConsistent } from './consistency.ts';
import type { Snapshot } from './snapshot.ts';
import { readSnapshotFile } from './snapshot-file.ts';

/**
 * The state for a new folder and for a reset.
 *
 * @param packaged the path of the package's own fixtures
 * @param own the path of the user's file. Missing merchants or wallets come from the packaged fixtures.
 * @param label the name of the option, for errors
 * @param currencies the currency codes from the options, in addition to the wallets' codes
 * @returns a function that reads each file once, so that later changes to the file do not affect a reset. It throws
 *   GatewayError `usage` if the user's file is missing or invalid.
 */
export function initialSnapshots(
  packaged: string,
  own: string | undefined,
  label: string,
  currencies: readonly string[],
): () => Promise<Snapshot> {
  let snapshot: Promise<Snapshot> | undefined;
  return () => {
    snapshot ??= (
      own === undefined ? readPackaged(packaged) : readOwn(own, packaged, label, currencies)
    ).catch((error) => {
      // Read the file again next time: the user may have fixed it.
      snapshot = undefined;
      throw error;
    });
    return snapshot;
  };
}

async function readPackaged(path: string): Promise<Snapshot> {
  const snapshot = await readSnapshotFile(path);
  if (snapshot) return snapshot;
  throw new GatewayError('state_damaged', `the fixtures ${path} do not exist: the package is incomplete`, {
    hint: hint`Install gateway-sim again.`,
  });
}

async function readOwn(
  path: string,
  packaged: string,
  label: string,
  currencies: readonly string[],
): Promise<Snapshot> {
  try {
    const snapshot = await readSnapshotFile(path);
    if (!snapshot) throw usage(`${path} does not exist`);
    const { merchants, wallets } = await readPackaged(packaged);
    const whole = {
      ...snapshot,
      merchants: snapshot.merchants.length ? snapshot.merchants : merchants,
      wallets: snapshot.wallets.length ? snapshot.wallets : wallets,
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
