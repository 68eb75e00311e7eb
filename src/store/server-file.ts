import { rm } from 'node:fs/promises';
import { hostname, networkInterfaces } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { bareHost, isLoopback } from '../contract/address.ts';
import { fileId, isLink, readOwnFile, replaceFile } from './files.ts';
import { identityOf, isRunning, type ProcessIdentity } from './process-identity.ts';

/** The folder that `start` uses unless it is told another. */
export const DEFAULT_DATA_DIR = '.gateway-sim';

/** What a running server leaves in its folder for the commands that look for it. Readable by its owner only. */
export interface ServerInfo {
  url: string;
  pid: number;
  controlToken: string | null;
  /** The certificate to trust; null where it speaks plain http. A server of an older version says nothing of it. */
  tlsCa?: string | null;
}

const serverFile = (folder: string) => join(folder, 'server.json');

/** Tells commands where the server of a folder is. */
export async function writeServerInfo(folder: string, info: ServerInfo): Promise<void> {
  const text = JSON.stringify({ ...info, started: identityOf(info.pid).started, folder: fileId(folder) });
  const file = await replaceFile(serverFile(folder), (file) => file.appendFile(`${text}\n`));
  await file.close();
}

export async function removeServerInfo(folder: string): Promise<void> {
  await rm(serverFile(folder), { force: true });
}

/**
 * The server that runs on this folder, or undefined when there is none. One whose process is gone, or is another one
 * with the same number, is ignored, and so is one that runs on another folder, of which this one is a copy, and a file
 * that somebody else may have put there: of another user, or with an address that is not of this machine.
 */
export async function readServerInfo(folder: string): Promise<ServerInfo | undefined> {
  try {
    const stored = JSON.parse(await readOwnFile(serverFile(folder))) as ServerInfo &
      Partial<ProcessIdentity> & { folder?: string };
    const { started = null, folder: its, ...info } = stored;
    const isOurs = its === fileId(folder) && isRunning({ pid: info.pid, started });
    return isOurs && isOnThisMachine(info.url) ? info : undefined;
  } catch {
    return undefined;
  }
}

/** Whether an address is one of this machine's own, whatever a resolver may say of names. */
export function isOnThisMachine(url: string): boolean {
  const { protocol, hostname: name, origin, href } = new URL(url);
  // As a start writes it: without a user, a path or a query.
  if (!/^https?:$/.test(protocol) || href !== `${origin}/`) return false;
  const host = bareHost(name);
  if (host === hostname().toLowerCase()) return true;
  if (isLoopback(host)) return !host.endsWith('.localhost');
  return Object.values(networkInterfaces()).some((list = []) => list.some(({ address }) => address === host));
}

/** Looks for a running server in `.gateway-sim` of this folder and of each one above it. */
export async function findServer(from: string): Promise<ServerInfo | undefined> {
  for (let folder = resolve(from); ; folder = dirname(folder)) {
    const path = join(folder, DEFAULT_DATA_DIR);
    // A link leads to a folder that somebody else chose.
    const info = (await isLink(path)) ? undefined : await readServerInfo(path);
    if (info || folder === dirname(folder)) return info;
  }
}
