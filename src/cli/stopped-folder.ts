import { resolve } from 'node:path';
import { GatewayError } from '../contract/error.ts';
import { isDataFolder } from '../store/folder.ts';
import { DEFAULT_DATA_DIR } from '../store/server-file.ts';
import type { Snapshot } from '../store/snapshot.ts';
import type { ServerChoice } from './connect.ts';

/** What a folder holds on which no emulator runs. */
export interface StoppedFolder {
  /** As the user knows it. */
  shown: string;
  snapshot: Snapshot;
}

/**
 * What `ask` gets of the emulator; where none runs, what `read` makes of the data folder that was named, or of the one
 * of this very folder. Nothing in it is changed or taken.
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
    // A running emulator is asked without loading this.
    const { Store } = await import('../store/store.ts');
    const snapshot = await Store.read(folder);
    if (!snapshot) throw error;
    return read({ shown, snapshot });
  }
}
