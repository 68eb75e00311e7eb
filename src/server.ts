import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { SimEvent } from './contract/event.ts';
import { type Fault, FaultRules } from './contract/fault.ts';
import { type HintStyle, NPX } from './contract/hint.ts';
import { parseInput } from './contract/input.ts';
import { timestamp } from './contract/timestamp.ts';
import { Courier } from './delivery/courier.ts';
import { Egress } from './delivery/egress.ts';
import { Poster } from './delivery/poster.ts';
import { prepare } from './domain/bootstrap.ts';
import { readTerms } from './domain/configuration.ts';
import { Faults } from './domain/faults.ts';
import { createIds } from './domain/ids.ts';
import { defaultMerchant } from './domain/merchant.ts';
import type { Context } from './domain/settings.ts';
import { createApp } from './http/app.ts';
import { faultView, simEventView } from './http/control/views.ts';
import type { AppParts, ServerRuntime } from './http/environment.ts';
import { isLoopback } from './http/guard.ts';
import { close, listen, portOf, urlOf } from './http/listener.ts';
import { settingsOf } from './interpret-options.ts';
import type { OptionName, ResolvedOptions } from './options/table.ts';
import { initialSnapshots } from './store/fixtures.ts';
import { DataFolder } from './store/folder.ts';
import { Store } from './store/store.ts';
import { Clock } from './system/clock.ts';
import { seededRandom, systemRandom } from './system/random.ts';
import { Shutdown } from './system/shutdown.ts';
import { AutoSettler } from './usecases/auto-settle.ts';
import { Cards } from './usecases/cards.ts';
import { Checkout } from './usecases/checkout.ts';
import { ClockUseCases } from './usecases/clock.ts';
import { EventLog } from './usecases/event-log.ts';
import { FaultUseCases } from './usecases/faults.ts';
import { Ipns } from './usecases/ipns.ts';
import { Merchants } from './usecases/merchants.ts';
import type { UseCaseParts } from './usecases/parts.ts';
import { Payments } from './usecases/payments.ts';
import { StateUseCases } from './usecases/state.ts';
import { Wallets } from './usecases/wallets.ts';
import { dialect } from './wire/dialect.ts';

/** What comes from outside the options. */
export interface ServerSurroundings {
  version: string;
  /** The file with the state that a new folder starts with, unless the options name another. */
  fixtures: string;
  /** Whether the options' fixtures are in a file that every start reads: then it is no news that a state is there. */
  standingFixtures?: boolean;
  /** Whether other code lives in this process, whose globals must stay as they are (they are replaced for speed). */
  sharesProcess?: boolean;
  /** How pages and log lines write commands and options; without it commands begin with npx. */
  style?: HintStyle;
  /** Gets every fault of ours, for the log. */
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
  /** What the user should know about what was found. */
  notices: readonly string[];
  parts: AppParts;
  /** The fault rules in force. */
  faults: () => Fault[];
  /** Calls the listener for everything that happens from now on. */
  onEvent: (listener: (event: SimEvent) => void) => void;
  /** Resolves when everything is stopped, on whichever side that began. */
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
  const shutdown = new Shutdown();
  // Every open stream of events listens, however many there are.
  setMaxListeners(0, shutdown.stopping.signal);
  try {
    // Whatever is wrong with the options is found before anything is opened.
    const plan = planOf(options, surroundings);
    const opened = await openState(plan, shutdown);
    const engine = await buildEngine(plan, opened);
    return await serve(plan, opened, engine, shutdown);
  } catch (error) {
    // Whatever else fails now: the user needs to know what failed first.
    await shutdown.close().catch(() => {});
    throw error;
  }
}

/** What the options say, before anything is opened. @throws GatewayError `usage` */
function planOf(options: ResolvedOptions, surroundings: ServerSurroundings) {
  const clock = new Clock();
  const terms = readTerms(options);
  const listening: { port?: number } = {};
  const style = surroundings.style ?? NPX;
  const label = (name: OptionName) => style.option({ option: name });
  const egress = new Egress(allowedHosts(options), () =>
    listening.port ? { port: listening.port } : undefined,
  );
  return {
    ...{ options, surroundings, style, label, clock, listening, egress },
    settings: settingsOf(options, terms, egress, label),
    preparation: { ...options, wallets: terms.wallets },
    firstFaults: options.faults === undefined ? [] : readFaults(options.faults),
    initial: initialSnapshots(surroundings.fixtures, options.fixtures, label('fixtures')),
    random: systemRandom(),
    controlToken:
      options.controlToken ?? (isLoopback(options.host) ? null : randomBytes(18).toString('base64url')),
  };
}
type Plan = ReturnType<typeof planOf>;

/** Takes the folder and reads the state. */
async function openState(plan: Plan, shutdown: Shutdown) {
  const { options, surroundings, label, initial, controlToken } = plan;
  const folder = options.inMemory ? null : await DataFolder.take(options.dataDir);
  shutdown.add(() => folder?.release());
  const store = folder
    ? await Store.open({ folder: folder.path, fsync: options.fsync }, initial)
    : await Store.inMemory(await initial());
  shutdown.add(() => store.close());
  if (store.found && options.fixtures !== undefined && !surroundings.standingFixtures) {
    store.notices.push(
      `${label('fixtures')} is ignored: ${folder?.path} has a state already (state reset goes back to them)`,
    );
  }
  if (controlToken === null && options.publicUrl && !isLoopback(new URL(options.publicUrl).hostname)) {
    store.notices.push(
      `anyone who reaches ${options.publicUrl} can read the keys and settle payments: ${label('controlToken')} asks for a token there`,
    );
  }
  return { folder, store };
}
type Opened = Awaited<ReturnType<typeof openState>>;

/** The rules at work on the state, with its state in line with the options. */
async function buildEngine(plan: Plan, { store }: Opened) {
  const { options, surroundings, clock, egress, settings, preparation, firstFaults, initial, random } = plan;
  const drawIds = () =>
    createIds(options.seed === undefined ? random : seededRandom(options.seed, store.size));
  let ids = drawIds();
  const renewIds = () => {
    ids = drawIds();
  };
  const context = (): Context => ({ now: clock.now(), ids, settings, ipn: dialect.ipn });
  await store.commit((state) => prepare(state, preparation, settings));
  const faults = new Faults(() => ids.fraction('fault'));
  faults.replace(firstFaults);
  const events = new EventLog();
  events.follow(store);
  const poster = new Poster(egress);
  const courier = new Courier({ store, clock, poster, context, version: surroundings.version, faults });
  const shared: UseCaseParts = { store, clock, courier, settings, context, random, events };
  const payments = new Payments(shared);
  const useCases = {
    payments,
    checkout: new Checkout(shared, payments),
    ipns: new Ipns(shared),
    cards: new Cards(shared),
    merchants: new Merchants(shared),
    wallets: new Wallets(shared),
    faults: new FaultUseCases(shared, faults),
    clock: new ClockUseCases(shared),
    state: new StateUseCases({ ...shared, initial, preparation, faults, firstFaults, renewIds }),
    events,
  };
  return { courier, useCases };
}
type Engine = Awaited<ReturnType<typeof buildEngine>>;

/** Listens, lets the clock work, and tells where. */
async function serve(
  plan: Plan,
  { folder, store }: Opened,
  { courier, useCases }: Engine,
  shutdown: Shutdown,
): Promise<RunningServer> {
  const { options, surroundings, clock, listening, controlToken } = plan;
  const { sharesProcess = false, report } = surroundings;
  const dataDir = folder?.path ?? null;
  const runtime = runtimeOf(plan, dataDir, shutdown);
  const parts: AppParts = { ...useCases, runtime, dialect };
  const app = createApp(parts, report);
  const servers = await listen(
    { ...options, replaceGlobals: !sharesProcess },
    (request, env) => app.fetch(request, env),
    report,
  );
  shutdown.add(() => Promise.all(servers.map(close)));
  shutdown.add(() => {
    clock.stop();
    courier.stop();
  });
  const port = portOf(servers[0]);
  listening.port = port;
  courier.start();
  new AutoSettler({ store, clock, payments: useCases.payments }).start();
  const url = urlOf(options.host, port);
  await folder?.announce({ url, pid: process.pid, controlToken });
  const { publicKey, secretKey } = defaultMerchant(store.state);
  return {
    ...{ url, port, publicKey, secretKey, dataDir, controlToken, parts },
    notices: store.notices,
    faults: () => parts.faults.list.map(faultView),
    onEvent: (listener) => void parts.events.subscribe((event) => listener(simEventView(event, parts))),
    stopped: shutdown.ended,
    stop: shutdown.stop,
  };
}

function runtimeOf(plan: Plan, dataDir: string | null, { stopping, stop }: Shutdown): ServerRuntime {
  const { options, surroundings, clock, listening, controlToken } = plan;
  return {
    ...{ options, settings: plan.settings, dataDir, controlToken, stop },
    version: surroundings.version,
    pid: process.pid,
    startedAt: timestamp(clock.now()),
    baseUrl: () =>
      options.publicUrl?.replace(/\/+$/, '') ?? urlOf(options.host, listening.port ?? options.port),
    style: plan.style,
    stopped: stopping.signal,
  };
}

/** Naming the address to forward to allows its host. */
function allowedHosts({ allowIpnHost, forwardIpn }: ResolvedOptions): string[] {
  return [...allowIpnHost, ...(forwardIpn ? [new URL(forwardIpn).hostname] : [])];
}

function readFaults(rules: unknown) {
  return parseInput(FaultRules, { faults: rules }).faults;
}
