import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { type HintStyle, PLAIN } from './contract/hint.ts';
import { Courier } from './delivery/courier.ts';
import { Egress } from './delivery/egress.ts';
import { Poster } from './delivery/sender.ts';
import { prepare } from './domain/bootstrap.ts';
import { readTerms } from './domain/configuration.ts';
import { FaultRules } from './domain/fault.ts';
import { Faults } from './domain/faults.ts';
import { createIds } from './domain/ids.ts';
import { defaultMerchant } from './domain/merchant.ts';
import { type Context, timestamp } from './domain/settings.ts';
import { createApp } from './http/app.ts';
import type { AppParts } from './http/environment.ts';
import { isLoopback } from './http/guard.ts';
import { parseInput } from './http/input.ts';
import { close, listen, portOf } from './http/listener.ts';
import type { ResolvedOptions } from './options.ts';
import { settingsOf } from './settings.ts';
import { initialSnapshots } from './store/fixtures.ts';
import { DataFolder } from './store/folder.ts';
import { Store } from './store/store.ts';
import { Clock } from './system/clock.ts';
import { seededRandom, systemRandom } from './system/random.ts';
import { Deadlines } from './usecases/auto-settle.ts';
import { CardUseCases } from './usecases/cards.ts';
import { EventLog } from './usecases/event-log.ts';
import { Gateway } from './usecases/payments.ts';
import { StateUseCases } from './usecases/state.ts';

/** What comes from outside the options. */
export interface ServerSurroundings {
  version: string;
  /** The file with the state that a new folder starts with, unless the options name another. */
  fixtures: string;
  /** Whether the options' fixtures stand in a file that every start reads: then it is no news that a state is there. */
  standingFixtures?: boolean;
  /** Whether other code lives in this process, whose globals must stay as they are (they are replaced for speed). */
  sharesProcess?: boolean;
  /** How pages write commands and options; without it commands begin with npx. */
  style?: HintStyle;
  /** Told of every fault of ours, for the log. */
  report: (error: unknown) => void;
}

/** A running emulator. */
export interface RunningServer {
  url: string;
  port: number;
  publicKey: string;
  secretKey: string;
  dataDir: string | null;
  controlToken: string | null;
  /** What the user should know about the state that was found. */
  notices: readonly string[];
  parts: AppParts;
  /** Resolves when everything is stopped, whoever asked for it. */
  stopped: Promise<void>;
  /** Answers what is under way, stores everything, lets go of port and folder. */
  stop: () => Promise<void>;
}

/**
 * Builds and starts an emulator; resolves when it answers.
 *
 * @throws GatewayError `port_in_use`, `folder_in_use`, `storage_failed`, `state_damaged` or `usage`, with nothing left
 *   open or locked
 */
export async function startServer(
  options: ResolvedOptions,
  surroundings: ServerSurroundings,
): Promise<RunningServer> {
  const undo: (() => Promise<void>)[] = [];
  try {
    return await build(options, surroundings, undo);
  } catch (error) {
    // Whatever else fails now: the user needs to know what failed first.
    for (const step of undo.reverse()) await step().catch(() => {});
    throw error;
  }
}

async function build(
  options: ResolvedOptions,
  surroundings: ServerSurroundings,
  undo: (() => Promise<void>)[],
): Promise<RunningServer> {
  const { version, fixtures, standingFixtures = false, sharesProcess = false, report } = surroundings;
  // Whatever is wrong with the options is found before anything is opened.
  const random = systemRandom();
  const clock = new Clock();
  const terms = readTerms(options);
  const listening: { port?: number } = {};
  const egress = new Egress(letOut(options), () => (listening.port ? { port: listening.port } : undefined));
  const settings = settingsOf(options, terms, egress);
  const firstFaults = options.faults === undefined ? [] : readFaults(options.faults);
  const initial = initialSnapshots(fixtures, options.fixtures);

  const folder = options.inMemory ? null : await DataFolder.take(options.dataDir);
  undo.push(async () => folder?.release());
  const store = folder
    ? await Store.open({ folder: folder.path, fsync: options.fsync }, initial)
    : await Store.inMemory(await initial());
  undo.push(() => store.close());
  const drawIds = () =>
    createIds(options.seed === undefined ? random : seededRandom(options.seed, store.size));
  let ids = drawIds();
  const context = (): Context => ({ now: clock.now(), ids, settings });
  if (store.found && options.fixtures !== undefined && !standingFixtures) {
    store.notices.push(
      `--fixtures is ignored: ${folder?.path} has a state already (state reset goes back to them)`,
    );
  }
  const controlToken =
    options.controlToken ?? (isLoopback(options.host) ? null : randomBytes(18).toString('base64url'));
  if (controlToken === null && options.publicUrl && !isLoopback(new URL(options.publicUrl).hostname)) {
    store.notices.push(
      `whoever reaches ${options.publicUrl} can read the keys and settle payments: --control-token asks for a token there`,
    );
  }
  const preparation = { ...options, wallets: terms.wallets };
  await store.commit((state) => prepare(state, preparation, settings));
  const faults = new Faults(() => ids.fraction('fault'));
  faults.replace(firstFaults);
  const activity = new EventLog();
  activity.follow(store);
  const courier = new Courier({ store, clock, poster: new Poster(egress), context, version, faults });
  const gateway = new Gateway({ store, clock, courier, settings, context, random });
  const stopping = new AbortController();
  // Every open stream of events listens, however many there are.
  setMaxListeners(0, stopping.signal);
  let stopped: Promise<void> | undefined;
  let announceEnd: (end: Promise<void>) => void = () => {};
  const ended = new Promise<void>((resolve) => {
    announceEnd = resolve;
  });
  const stop = () => {
    if (!stopped) {
      stopped = stopAll();
      announceEnd(stopped);
    }
    return stopped;
  };
  const parts: AppParts = {
    gateway,
    cards: new CardUseCases(store, context),
    state: new StateUseCases({
      store,
      initial,
      preparation,
      settings,
      faults,
      firstFaults,
      activity,
      context,
      renewIds: () => {
        ids = drawIds();
      },
    }),
    clock,
    faults,
    activity,
    facts: {
      version,
      options,
      dataDir: folder?.path ?? null,
      pid: process.pid,
      startedAt: timestamp(clock.now()),
      baseUrl: () =>
        options.publicUrl?.replace(/\/+$/, '') ?? urlOf(options.host, listening.port ?? options.port),
      controlToken,
      style: surroundings.style ?? NPX,
      stopped: stopping.signal,
      stop,
    },
  };
  const app = createApp(parts, report);
  const servers = await listen(
    { ...options, replaceGlobals: !sharesProcess },
    (request, env) => app.fetch(request, env),
    report,
  );
  undo.push(async () => void (await Promise.all(servers.map(close))));
  undo.push(async () => {
    clock.stop();
    courier.stop();
  });
  listening.port = portOf(servers[0]);
  courier.start();
  new Deadlines({ store, clock, gateway }).start();
  const url = urlOf(options.host, listening.port);
  await folder?.announce({ url, pid: process.pid, controlToken });
  const { publicKey, secretKey } = defaultMerchant(store.state);

  async function stopAll(): Promise<void> {
    stopping.abort();
    clock.stop();
    courier.stop();
    await Promise.all(servers.map(close));
    await store.close();
    await folder?.release();
  }

  return {
    url,
    port: listening.port,
    publicKey,
    secretKey,
    dataDir: folder?.path ?? null,
    controlToken,
    notices: store.notices,
    parts,
    stopped: ended,
    stop,
  };
}

/** Naming the address to forward to lets its host out. */
function letOut({ allowIpnHost, forwardIpn }: ResolvedOptions): string[] {
  return [...allowIpnHost, ...(forwardIpn ? [new URL(forwardIpn).hostname] : [])];
}

/** As typed where the package is installed, but not globally. */
const NPX: HintStyle = { ...PLAIN, command: (hint) => `npx ${PLAIN.command(hint)}` };

function readFaults(rules: unknown) {
  return parseInput(FaultRules, { faults: rules }).faults;
}

function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
