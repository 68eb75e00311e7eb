import { hostname, networkInterfaces } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { bareHost, isLoopback } from '../contract/address.ts';
import { fileId, isLink, readOwnFile, removeFile, replaceFile } from '../system/files.ts';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.ts';

/** The default data folder of `start`. */
export const DEFAULT_DATA_DIR = '.gateway-sim';

/** How commands find a running server: stored in its data folder, readable by its owner only. */
export interface ServerInfo {
  url: string;
  pid: number;
  controlToken: string | null;
  /** The CA certificate to trust; null for plain http. */
  tlsCa: string | null;
}

const serverFile = (folder: string) => join(folder, 'server.json');

/** @param assertOurs called immediately before the file is replaced, which does not happen if it throws */
export async function writeServerInfo(
  folder: string,
  info: ServerInfo,
  assertOurs?: () => void,
): Promise<void> {
  const text = JSON.stringify({ ...info, started: identityOf(info.pid).started, folder: fileId(folder) });
  const file = await replaceFile(serverFile(folder), (file) => file.appendFile(`${text}\n`), assertOurs);
  await file.close();
}

export function removeServerInfo(folder: string): void {
  removeFile(serverFile(folder));
}

/**
 * Finds the server that is running on a folder, if any. Ignores a file whose process has ended, a file in a copy of the
 * folder, and a file that another user may have planted: one that belongs to another user, or whose address is not on
 * this machine.
 */
export async function readServerInfo(folder: string): Promise<ServerInfo | undefined> {
  try {
    const stored = JSON.parse(await readOwnFile(serverFile(folder))) as ServerInfo &
      Partial<ProcessIdentity> & { folder?: string };
    const { started = null, folder: storedFolder, ...info } = stored;
    const isOurs = storedFolder === fileId(folder) && isRunning({ pid: info.pid, started });
    return isOurs && isOnThisMachine(info.url) ? info : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an address belongs to this machine. Does not resolve names. */
export function isOnThisMachine(url: string): boolean {
  const { protocol, hostname: name, origin, href } = new URL(url);
  // As `start` writes it: without a user, path or query.
  if (!/^https?:$/.test(protocol) || href !== `${origin}/`) return false;
  const host = bareHost(name);
  if (host === hostname().toLowerCase()) return true;
  if (isLoopback(host)) return !host.endsWith('.localhost');
  return Object.values(networkInterfaces()).some((list = []) => list.some(({ address }) => address === host));
}

/** Looks for a running server in `.gateway-sim` of this folder and each of its parents. */
export async function findServer(from: string): Promise<ServerInfo | undefined> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, DEFAULT_DATA_DIR);
    // A link could lead to a folder of another user's choice.
    const info = (await isLink(path)) ? undefined : await readServerInfo(path);
    if (info || folder === dirname(folder)) return info;
  }
}
