import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_URL } from '../contract/address.ts';
import { command, GatewayError, hint, option, usage } from '../contract/error.ts';
import {
  type ControlServer,
  controlServer,
  foreignServer,
  isEmulator,
  isSuccess,
  isUntrusted,
  noServer,
  request,
} from '../library/control-client.ts';
import { givenAs, isGivenByUser, ownUrlOf, readSecret } from '../options/resolve.ts';
import type { OptionName } from '../options/start-options.ts';
import { isDataFolder } from '../store/folder.ts';
import { DEFAULT_DATA_DIR, findServer, isOnThisMachine, readServerInfo } from '../store/server-file.ts';
import type { Snapshot } from '../store/snapshot.ts';
import { findConfiguration, readConfiguration, startConfiguration } from './configuration.ts';
import type { Io } from './io.ts';

/** How the command line or the environment selects the server. */
export interface ServerChoice
  extends Record<'url' | 'dataDir' | 'controlToken' | 'tlsCa', string | undefined> {
  /** The control token from the environment. */
  tokenVariable: string | undefined;
}

export interface Server extends ControlServer {
  /** Its process, if server.json names it. */
  pid: number | undefined;
  /** Whether it may get secrets from the environment: the user selected it, not a folder. */
  isNamed: boolean;
}

/** Time limit for an emulator to identify itself. */
const IDENTIFY_MS = 5_000;

/**
 * Finds the server by the first of: its URL; server.json in the data folder (of this folder or a parent); the address
 * that `start` would take from the environment or the configuration file; the default address.
 *
 * @param guess whether to try the default address. If not, the server must also prove to be an emulator
 * @throws GatewayError `no_server`; `usage` for a configuration file that cannot be read
 */
export async function connect(
  choice: ServerChoice,
  io: Pick<Io, 'env' | 'cwd'>,
  guess: boolean,
): Promise<Server> {
  const { cwd } = io;
  const file = choice.url === undefined && !choice.dataDir ? await configured(io) : undefined;
  const dataDir = choice.dataDir ?? file?.dataDir;
  const info = dataDir ? await readServerInfo(resolve(cwd, dataDir)) : await findServer(cwd);
  // The address of the dashboard means its emulator.
  const url = choice.url?.replace(/\/_sim\/?$/, '') ?? info?.url ?? file?.url;
  if (url === undefined && (choice.dataDir || !guess)) {
    const where = dataDir ?? `${DEFAULT_DATA_DIR} in this or a parent folder`;
    const unset = dataDir === undefined ? ', and neither --url nor GATEWAY_SIM_URL is set' : '';
    const other = choice.dataDir
      ? 'nothing'
      : await probe({ url: DEFAULT_URL, tlsCa: undefined }, IDENTIFY_MS);
    throw new GatewayError('no_server', `no gateway-sim is running for ${where}${unset}`, {
      // Only the user may say that another emulator is meant.
      hint:
        other === 'ready'
          ? hint`A gateway-sim runs at the default address. If you mean that one, add ${option('url')} ${DEFAULT_URL}.`
          : hint`Start one with: ${command('start')}`,
    });
  }
  const known = info?.url === url ? info : undefined;
  // An untrusted folder must not get the token in the environment, which is for the emulator that the user names.
  const isOfFolder = info !== undefined || (file?.isFound && file.url !== undefined && url !== DEFAULT_URL);
  const isNamed = choice.url !== undefined || !isOfFolder;
  const fitting = choice.controlToken ?? (isNamed ? choice.tokenVariable : undefined);
  const given = fitting && readSecret(fitting, 'the control token', cwd);
  const controlToken = given ?? (info ? known?.controlToken : file?.controlToken);
  const trusted = choice.tlsCa === undefined ? undefined : resolve(cwd, choice.tlsCa);
  const server = controlServer({
    url: addressOf(url ?? DEFAULT_URL),
    controlToken,
    tlsCa: trusted ?? known?.tlsCa,
  });
  if (!guess) {
    // Another server must not get the request.
    const found = await probe(server, IDENTIFY_MS);
    if (found === 'nothing') throw noServer(server.url);
    if (found === 'foreign') throw foreignServer(server.url);
  }
  return { ...server, pid: known?.pid, isNamed };
}

const ADDRESS: readonly OptionName[] = ['port', 'host', 'tls', 'tlsCert', 'tlsKey'];

/** The emulator that `start` runs with the configuration file and the port variable, as far as they define it. */
async function configured({ env, cwd }: Pick<Io, 'env' | 'cwd'>) {
  const { GATEWAY_SIM_PORT } = env;
  if (!GATEWAY_SIM_PORT && !env['GATEWAY_SIM_CONFIG'] && findConfiguration(cwd) === undefined)
    return undefined;
  const file = await readConfiguration({ env, cwd });
  const options = startConfiguration({}, { GATEWAY_SIM_PORT }, file);
  const isGiven = (name: OptionName) => givenAs(options, name) !== undefined;
  const { port, dataDir, controlToken } = options;
  const url = ownUrlOf(options, port);
  return {
    dataDir: isGiven('dataDir') ? dataDir : undefined,
    url: isGiven('port') && port !== 0 && isOnThisMachine(url) ? url : undefined,
    controlToken,
    isFound: ADDRESS.some((name) => isGiven(name) && !isGivenByUser(options, name)),
  };
}

/** The value of `--url`, or of another flag. @throws GatewayError `usage` */
export function addressOf(url: string, flag = '--url'): string {
  if (/^https?:\/\/[^/]/i.test(url) && URL.canParse(url)) return url;
  throw usage(`${flag} must be an absolute http address, such as ${DEFAULT_URL} (got "${url}")`);
}

/** How long to wait for the server on our own port to identify itself. */
export const PROBE_MS = 1_000;

/** The server at an address: a ready emulator, one that is starting or stopping, another server, or none. */
type Found = 'ready' | 'unready' | 'foreign' | 'nothing';

/**
 * Checks an address without changing anything. Needs no control token.
 *
 * @param limitMs the time limit for the response, in real time
 * @throws GatewayError `no_server` for a certificate that is not trusted
 */
export async function probe(
  { url, tlsCa }: Pick<ControlServer, 'url' | 'tlsCa'>,
  limitMs: number,
): Promise<Found> {
  try {
    const address = `${url.replace(/\/+$/, '')}/_sim/readyz`;
    const totalMs = Math.max(1, limitMs);
    const answer = await request(address, { tlsCa, limitMs: totalMs, totalMs });
    answer.destroy();
    if (!isEmulator(answer)) return 'foreign';
    return isSuccess(answer) ? 'ready' : 'unready';
  } catch (error) {
    if (isUntrusted(error)) throw noServer(url, error);
    // Anything that accepts the connection counts as a server, even if it does not respond.
    return error instanceof GatewayError && error.code === 'timed_out' ? 'unready' : 'nothing';
  }
}

export const noPayment = (message: string) =>
  new GatewayError('not_found', message, { hint: hint`Create one with: ${command('payments create')}` });

/** Whether an error means that no emulator is running. */
export function isNoServer(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'no_server';
}

const POLL_MS = 50;

/**
 * Tries until it succeeds or the time is up, in real time.
 *
 * @param mayChange whether the next try may not have this error
 * @throws the last error
 */
export async function retry<Result>(
  limitMs: number,
  attempt: (leftMs: number) => Promise<Result>,
  mayChange: (error: unknown) => boolean,
): Promise<Result> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    try {
      return await attempt(deadline - performance.now());
    } catch (error) {
      if (performance.now() >= deadline || !mayChange(error)) throw error;
    }
    await sleep(Math.min(POLL_MS, Math.max(1, deadline - performance.now())));
  }
}

/** Whether no emulator is running and the user named none, so that a command may start its own. */
export function isNoneNamed(error: unknown, choice: ServerChoice): boolean {
  return isNoServer(error) && Object.values(choice).every((given) => given === undefined);
}

/**
 * The result of `ask` with the running emulator. If none is running, the result of `read` with the named data folder or
 * the one in the working folder. That folder is neither changed nor locked.
 *
 * @param read gets the folder as the user named it, and its state
 * @throws GatewayError what `ask` throws; `state_damaged`
 */
export async function orStopped<Result>(
  { choice, io }: { choice: ServerChoice; io: Pick<Io, 'cwd'> },
  ask: () => Promise<Result>,
  read: (folder: { shown: string; snapshot: Snapshot }) => Promise<Result> | Result,
): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!isNoServer(error) || choice.url !== undefined) throw error;
    const shown = choice.dataDir ?? DEFAULT_DATA_DIR;
    const folder = resolve(io.cwd, shown);
    if (!(await isDataFolder(folder))) throw error;
    // Not needed with a running emulator.
    const { Store } = await import('../store/store.ts');
    const snapshot = await Store.read(folder);
    if (!snapshot) throw error;
    return read({ shown, snapshot });
  }
}
