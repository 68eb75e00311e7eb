import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The folders of this process. */
const ours = new Set<string>();

/**
 * Makes a folder that others cannot read and that is removed at the end of the process.
 *
 * @throws the file system's error
 */
export async function makeTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-sim-tls-'));
  if (!ours.size) {
    process.once('exit', removeAll);
    for (const signal of SIGNALS) process.on(signal, endBySignal);
  }
  ours.add(folder);
  return folder;
}

export async function removeTemporaryFolder(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  ours.delete(folder);
  if (ours.size) return;
  process.off('exit', removeAll);
  for (const signal of SIGNALS) process.off(signal, endBySignal);
}

/** They end a process that listens to none of them, and without the event `exit`. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Where others listen, too, they decide what becomes of the process. */
function endBySignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  process.off(signal, endBySignal);
  process.kill(process.pid, signal);
}

function removeAll(): void {
  for (const folder of ours) rmSync(folder, { recursive: true, force: true });
}
