import { GatewayError } from '../contract/error.ts';
import { command, hint } from '../contract/hint.ts';
import { assertConsistent } from './integrity.ts';
import type { Snapshot } from './snapshot.ts';
import { readSnapshotFile } from './snapshot-file.ts';

/**
 * The state that an emulator starts with and goes back to on a reset.
 *
 * @param packaged the fixtures that come with the package
 * @param own a file that the user names; what it says nothing about, a merchant at least, comes from the packaged one
 * @param label what to call the option in an error
 * @param currencies codes that the options know; those of the wallets are known, too
 * @returns reads each file once: a reset goes back to what this server started with, whatever became of the file
 * @throws (what is returned) GatewayError `usage` when the user's file is missing or not valid
 */
export function initialSnapshots(
  packaged: string,
  own: string | undefined,
  label = '--fixtures',
  currencies: readonly string[] = [],
): () => Promise<Snapshot> {
  let snapshot: Promise<Snapshot> | undefined;
  return () => {
    snapshot ??= (
      own === undefined ? readPackaged(packaged) : readOwn(own, packaged, { label, currencies })
    ).catch((error) => {
      // The user may fix the file meanwhile.
      snapshot = undefined;
      throw error;
    });
    return snapshot;
  };
}

async function readPackaged(path: string): Promise<Snapshot> {
  const read = await readSnapshotFile(path);
  if (read) return read.snapshot;
  throw new GatewayError('state_damaged', `the fixtures ${path} do not exist: the package is not complete`, {
    hint: hint`Install gateway-sim again.`,
  });
}

async function readOwn(
  path: string,
  packaged: string,
  { label, currencies }: { label: string; currencies: readonly string[] },
): Promise<Snapshot> {
  try {
    const read = await readSnapshotFile(path);
    if (!read) throw new GatewayError('usage', `${path} does not exist`);
    const { snapshot } = read;
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
    throw new GatewayError('usage', `${label}: ${error.message}`, {
      hint: hint`${command('init')} writes a fixtures file to start from.`,
      cause: error,
    });
  }
}
