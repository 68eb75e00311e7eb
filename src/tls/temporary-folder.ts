import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { identityOf, isRunning, pidScope } from '../store/process-identity.ts';

const PREFIX = 'gateway-sim-tls-';

/** The folders of this process. */
const ours = new Set<string>();

/**
 * Makes a folder that others cannot read and that is removed at the end of the process. One whose process was killed,
 * so that nobody removed it, is removed by the next.
 *
 * @throws the file system's error
 */
export async function makeTemporaryFolder(): Promise<string> {
  await sweep();
  const folder = await mkdtemp(join(tmpdir(), `${PREFIX}${placeName()}-${ownerName(process.pid)}-`));
  if (!ours.size) watchEnd();
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

/** Containers may share a temporary folder, and process numbers mean something else in each. */
const placeName = () => createHash('sha256').update(JSON.stringify(pidScope())).digest('hex').slice(0, 12);

/** The process that a folder belongs to is part of its name: so there is never a folder without. */
const ownerName = (pid: number) => `${pid}-${identityOf(pid).started ?? 'x'}`;

/** Removes what processes of this place and of this user left that do not run any more. What cannot be removed stays. */
async function sweep(): Promise<void> {
  const owned = new RegExp(`^${PREFIX}${placeName()}-(\\d+)-(\\d+|x)-\\w{6}$`);
  for (const name of await readdir(tmpdir()).catch(() => [])) {
    const [, pid, started] = owned.exec(name) ?? [];
    if (!started || isRunning({ pid: Number(pid), started: started === 'x' ? null : started })) continue;
    const path = join(tmpdir(), name);
    // Not through a link: anyone may make one of this name there.
    const found = await lstat(path).catch(() => undefined);
    const isUsers = found?.uid === (process.getuid?.() ?? found?.uid);
    if (found?.isDirectory() && isUsers) await rm(path, { recursive: true, force: true }).catch(() => {});
  }
}

/** They end a process that listens to none of them, and without the event `exit`. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

function watchEnd(): void {
  process.once('exit', removeAll);
  for (const signal of SIGNALS) process.on(signal, endBySignal);
}

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
