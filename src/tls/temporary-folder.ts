import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf, isRunning, pidScope } from '../store/process-identity.ts';

const PREFIX = 'gateway-sim-tls-';

/** Folders of this process. */
const created = new Set<string>();

/**
 * Creates a folder that others cannot read and that is removed when the process ends. Also removes folders of killed
 * processes.
 *
 * @throws the file system's error
 */
export async function makeTemporaryFolder(): Promise<string> {
  await sweep();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${placeName()}-${ownerName(process.pid)}-`));
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

/** Containers may share a temporary folder, but their process ids differ. */
const placeName = () => createHash('sha256').update(JSON.stringify(pidScope())).digest('hex').slice(0, 12);

/** The owner is part of the folder's name, so that every folder has an owner from the start. */
const ownerName = (pid: number) => `${pid}-${identityOf(pid).started ?? 'x'}`;

/** Removes folders of this user's ended processes on this machine. Folders that cannot be removed stay. */
async function sweep(): Promise<void> {
  const owned = new RegExp(`^${PREFIX}${placeName()}-(\\d+)-(\\d+|x)-\\w{6}$`);
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const [, pid, started] = owned.exec(name) ?? [];
    if (!started || isRunning({ pid: Number(pid), started: started === 'x' ? null : started })) continue;
    const path = join(tmpdir(), name);
    // Never follows a link, which any user could create there.
    const found = await lstat(path).catch(() => undefined);
    const isUsers = found?.uid === (process.getuid?.() ?? found?.uid);
    if (found?.isDirectory() && isUsers) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
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
