import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Folders of this process. */
const created = new Set<string>();

/**
 * Creates a folder that others cannot read and that is removed when the process ends, unless it is killed.
 *
 * @throws the file system's error
 */
export async function makeTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-'));
  if (!created.size) watchEnd();
  created.add(folder);
  return folder;
}

export async function removeTemporaryFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  created.delete(folder);
  if (created.size) return;
  process.off('exit', removeAll);
  for (const signal of SIGNALS) process.off(signal, endBySignal);
}

/** Without a listener, these signals end a process without an `exit` event. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function watchEnd(): void {
  process.once('exit', removeAll);
  for (const signal of SIGNALS) process.on(signal, endBySignal);
}

/** If there are other listeners, they decide whether the process ends. */
function endBySignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  process.off(signal, endBySignal);
  process.kill(process.pid, signal);
}

function removeAll(): void {
  for (const folder of created) rmSync(folder, { recursive: true, force: true });
}
