import { GatewayError } from '../contract/error.ts';
import { command, hint, option } from '../contract/hint.ts';
import { type ControlServer, controlServer } from '../library/control-client.ts';
import { findServer, readServerInfo } from '../store/server-file.ts';

/** What every command takes to find its server. */
export interface ServerChoice {
  url?: string | undefined;
  dataDir?: string | undefined;
  controlToken?: string | undefined;
}

/** A server that a command talks to. */
export interface Server extends ControlServer {
  /** The process that runs it, where server.json tells. */
  pid: number | undefined;
}

const DEFAULT_URL = 'http://127.0.0.1:4477';

/**
 * Finds the server: by its URL, else by server.json in the data folder (this or a parent folder's), else at the
 * default address.
 *
 * @param rules `guess: false` for what cannot be undone: no server is taken that was neither named nor found
 * @throws GatewayError `no_server`
 */
export async function connect(
  choice: ServerChoice,
  rules: { guess: boolean } = { guess: true },
): Promise<Server> {
  const info = choice.dataDir ? await readServerInfo(choice.dataDir) : await findServer(process.cwd());
  const url = choice.url ?? info?.url;
  if (url === undefined && (choice.dataDir || !rules.guess)) {
    throw new GatewayError(
      'no_server',
      `no gateway-sim runs on ${choice.dataDir ?? '.gateway-sim of this or a parent folder'}`,
      {
        hint: hint`Start one with: ${command('start')}. Or say where it is with ${option('url')}.`,
      },
    );
  }
  const known = info?.url === url ? info : undefined;
  return serverAt(url ?? DEFAULT_URL, choice.controlToken ?? known?.controlToken ?? undefined, known?.pid);
}

function serverAt(url: string, controlToken: string | undefined, pid: number | undefined): Server {
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new GatewayError(
      'usage',
      `--url must be an absolute http address, such as ${DEFAULT_URL} (got "${url}")`,
    );
  }
  return { ...controlServer({ url, controlToken }), pid };
}
