import { resolve } from 'node:path';
import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { type ControlServer, controlServer } from '../library/control-client.ts';
import { findServer, readServerInfo } from '../store/server-file.ts';
import type { ServerChoice } from './command.ts';

export interface Server extends ControlServer {
  /** The process that runs it, where server.json tells. */
  pid: number | undefined;
}

/** Where a server listens by default. */
export const DEFAULT_URL = 'http://127.0.0.1:4477';

/**
 * Finds the server: by its URL, else by server.json in the data folder (this or a parent folder's), else at the
 * default address.
 *
 * @param guess whether the default address may be tried
 * @throws GatewayError `no_server`
 */
export async function connect(
  { url: named, dataDir, controlToken }: ServerChoice,
  cwd: string,
  guess: boolean,
): Promise<Server> {
  const info = dataDir ? await readServerInfo(resolve(cwd, dataDir)) : await findServer(cwd);
  const url = named ?? info?.url;
  if (url === undefined && (dataDir || !guess)) {
    const where = dataDir ?? '.gateway-sim of this or a parent folder';
    throw new GatewayError('no_server', `no gateway-sim runs on ${where}`, {
      hint: hint`Start one with: ${command('start')}. Or say where it is with ${option('url')}.`,
    });
  }
  const known = info?.url === url ? info : undefined;
  const token = controlToken ?? known?.controlToken ?? undefined;
  return { ...controlServer({ url: addressOf(url ?? DEFAULT_URL), controlToken: token }), pid: known?.pid };
}

/**
 * The value of `--url`.
 *
 * @throws GatewayError `usage`
 */
export function addressOf(url: string): string {
  if (/^https?:\/\/[^/]/i.test(url) && URL.canParse(url)) return url;
  throw new GatewayError(
    'usage',
    `--url must be an absolute http address, such as ${DEFAULT_URL} (got "${url}")`,
  );
}
