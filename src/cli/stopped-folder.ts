import { resolve } from 'node:path';
import { GatewayError } from '../contract/error.ts';
import { isDataFolder } from '../store/folder.ts';
import { DEFAULT_DATA_DIR } from '../store/server-file.ts';
import type { Snapshot } from '../store/snapshot.ts';
import type { ServerChoice } from './connect.ts';

/** The state of a folder without a running emulator. */
export interface StoppedFolder {
  /** The folder as the user named it. */
  shown: string;
  snapshot: Snapshot;
}

/**
 * The result of `ask` with the running emulator. If none is running, the result of `read` with the named data folder or
 * the one in the working folder. That folder is neither changed nor locked.
 *
 * @throws GatewayError what `ask` throws; `state_damaged`
 */
export async function orStopped<Result>(
  ask: () => Promise<Result>,
  read: (folder: StoppedFolder) => Promise<Result> | Result,
  { choice, cwd }: { choice: ServerChoice; cwd: string },
): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    const isGone = error instanceof GatewayError && error.code === 'no_server';
    if (!isGone || choice.url !== undefined) throw error;
    const shown = choice.dataDir ?? DEFAULT_DATA_DIR;
    const folder = resolve(cwd, shown);
    if (!(await isDataFolder(folder))) throw error;
    // Not needed with a running emulator.
    const { Store } = await import('../store/store.ts');
    const snapshot = await Store.read(folder);
    if (!snapshot) throw error;
    return read({ shown, snapshot });
  }
}
