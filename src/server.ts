import { randomBytes, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { isLoopback } from './contract/address.ts';
import type { SimEvent } from './contract/event.ts';
import { FaultRules } from './contract/fault.ts';
import { type HintStyle, NPX } from './contract/hint.ts';
import { parseInput } from './contract/input.ts';
import { timestamp } from './contract/timestamp.ts';
import { Courier } from './delivery/courier.ts';
import { allowedHosts, Egress } from './delivery/egress.ts';
import { Poster } from './delivery/poster.ts';
import type { ReceiverTrust } from './delivery/receiver-trust.ts';
import { prepare } from './domain/bootstrap.ts';
import { readStructures } from './domain/configuration.ts';
import { Faults } from './domain/faults.ts';
import { createIds } from './domain/ids.ts';
import { defaultMerchant } from './domain/merchant.ts';
import { newestIds } from './domain/retention.ts';
import type { Context } from './domain/settings.ts';
import { type Front, planFront, readIpnCa } from './front.ts';
import { faultView, simEventView } from './http/control/views.ts';
import type { AppParts, ServerRuntime } from './http/environment.ts';
import { close, listen, portOf } from './http/listener.ts';
import { createMask } from './http/mask.ts';
import { initiateFastPath } from './http/service/initiate-fast-path.ts';
import { aliasesOf, settingsOf } from './interpret-options.ts';
import { basePathsOf, baseUrlOf, ownUrlOf } from './options/base-url.ts';
import { givenAs, isGivenByUser } from './options/resolve.ts';
import type { OptionName, ResolvedOptions } from './options/table.ts';
import { initialSnapshots } from './store/fixtures.ts';
import { DataFolder } from './store/folder.ts';
import { Store } from './store/store.ts';
import { Clock } from './system/clock.ts';
import { packagedFixtures } from './system/package-info.ts';
import { seededRandom, systemRandom } from './system/random.ts';
import { Shutdown } from './system/shutdown.ts';
import { Audits } from './usecases/audits.ts';
import { startAutoSettling } from './usecases/auto-settle.ts';
import { resumeClock } from './usecases/clock.ts';
import { EventLog } from './usecases/event-log.ts';
import { startRetaining } from './usecases/retention.ts';
import { createUseCases } from './usecases/use-cases.ts';
import { dialect } from './wire/documented/service.ts';

/** Settings that are not options. */
interface ServerSurroundings {
  /** Whether the fixtures come from the configuration file. If so, an existing state needs no notice. */
  standingFixtures?: boolean;
  /** Whether other code runs in this process. If so, no globals are replaced with faster ones. */
  sharesProcess?: boolean;
  /** How pages and log lines write commands and options. By default, commands start with npx. */
  style?: HintStyle;
  /** Logs internal errors. */
  report: (error: unknown) => void;
  /** Reports urgent warnings to the user, such as a full disk. */
  warn: (text: string) => void;
}

export type RunningServer = Awaited<ReturnType<typeof serve>>;

/**
 * Builds and starts an emulator. Resolves when it is ready.
 *
 * @throws GatewayError `port_in_use`, `folder_in_use`, `storage_failed`, `state_damaged` or `usage`, with nothing left
 *   open or locked
 */
export async function startServer(
  options: ResolvedOptions,
  surroundings: ServerSurroundings,
): Promise<RunningServer> {
  const shutdown = new Shutdown();
  // Every open event stream adds a listener.
  setMaxListeners(0, shutdown.stopping.signal);
  try {
    // Errors in the options must be found before anything is opened.
    const plan = planOf(options, surroundings);
    const front = await planFront({
      ...plan,
      url: () => baseUrlOf(options, plan.listening.port),
      dialect,
      warn: surroundings.warn,
    });
    const trust = { ca: await readIpnCa(options, plan.label), insecure: options.ipnInsecure };
    const opened = await openState(plan, shutdown);
    const engine = await buildEngine(plan, opened, trust);
    return await serve(plan, opened, engine, await front(opened.folder?.path ?? null), shutdown);
  } catch (error) {
    // The user needs the first error, not a later one.
    await shutdown.close().catch(() => {});
    throw error;
  }
}

/** Interprets the options before anything is opened. @throws GatewayError `usage` */
function planOf(options: ResolvedOptions, surroundings: ServerSurroundings) {
  const { host, faults } = options;
  const terms = readStructures(options);
  const style = surroundings.style ?? NPX;
  const label = (name: OptionName) => givenAs(options, name) ?? style.option({ option: name });
  const listening: { port?: number } = {};
  const egress = new Egress(allowedHosts(options), () => listening.port);
  const aliases = aliasesOf(options, label);
  const settings = settingsOf(options, terms, egress, label);
  const currencies = [...settings.currencies.keys()];
  return {
    options,
    surroundings,
    style,
    label,
    listening,
    egress,
    settings,
    currencies,
    aliases,
    clock: new Clock(),
    preparation: { ...options, wallets: terms.wallets },
    firstFaults: faults === undefined ? [] : parseInput(FaultRules, { faults }).faults,
    initial: initialSnapshots(packagedFixtures(), options.fixtures, label('fixtures'), currencies),
    random: systemRandom(),
    controlToken: options.controlToken ?? (isLoopback(host) ? null : randomBytes(18).toString('base64url')),
  };
}
type Plan = ReturnType<typeof planOf>;

/** Locks the folder and reads the state. */
async function openState(plan: Plan, shutdown: Shutdown) {
  const { options, surroundings, label, initial, controlToken, currencies } = plan;
  const { warn } = surroundings;
  const isNamed = isGivenByUser(options, 'dataDir');
  const folder = options.inMemory ? null : await DataFolder.acquire(options.dataDir, { isNamed });
  shutdown.add(() => folder?.release());
  const store = folder
    ? await Store.open(
        { folder: folder.path, fsync: options.fsync, assertOurs: folder.assertOurs, currencies, warn },
        initial,
      )
    : Store.inMemory(await initial());
  shutdown.add(() => store.close());
  store.notices.unshift(...(folder?.notices ?? []));
  if (store.found && options.fixtures !== undefined && !surroundings.standingFixtures) {
    store.notices.push(
      `${label('fixtures')} is ignored because ${folder?.path} already has a state (use state reset to load it)`,
    );
  }
  if (controlToken === null && options.publicUrl && !isLoopback(new URL(options.publicUrl).hostname)) {
    store.notices.push(
      `anyone who can reach ${options.publicUrl} can read the keys and settle payments; set ${label('controlToken')} to require a token`,
    );
  }
  return { folder, store };
}
type Opened = Awaited<ReturnType<typeof openState>>;

/** Builds the use cases, after the state is adapted to the options. */
async function buildEngine(plan: Plan, { store }: Opened, trust: ReceiverTrust) {
  const { options, clock, egress, settings, random } = plan;
  resumeClock(clock, store.state);
  const drawIds = () =>
    createIds(
      options.seed === undefined
        ? random
        : seededRandom(options.seed, `${store.state.size}:${newestIds(store.state)}`),
    );
  let ids = drawIds();
  const renewIds = () => {
    ids = drawIds();
  };
  const context = (requestId?: number): Context => ({
    now: clock.now(),
    ids,
    settings,
    ipn: dialect.ipn,
    requestId: requestId === undefined ? undefined : events.storedRequestId(requestId),
  });
  await store.commit((state) => prepare(state, plan.preparation, settings));
  const events = new EventLog(store, clock, randomUUID().slice(0, 8));
  const faults = new Faults({
    fraction: () => ids.fraction('fault'),
    initial: plan.firstFaults,
    notice: (text) => events.notice(text),
  });
  const courier = new Courier({
    store,
    clock,
    context,
    faults,
    poster: new Poster(egress, trust),
    onWaiting: (delivery, attempt) => events.waiting(delivery, attempt),
  });
  return {
    courier,
    useCases: createUseCases({ ...plan, dialect, store, courier, context, events, faults, renewIds }),
  };
}
type Engine = Awaited<ReturnType<typeof buildEngine>>;

/** Listens, starts the clock and announces the address. */
async function serve(
  plan: Plan,
  { folder, store }: Opened,
  { courier, useCases }: Engine,
  { edge, tlsCa, notices, remove }: Front,
  shutdown: Shutdown,
) {
  const { options, surroundings, clock, listening, controlToken } = plan;
  const { sharesProcess = false, report } = surroundings;
  shutdown.add(remove);
  store.notices.push(...notices);
  const dataDir = folder?.path ?? null;
  const audits = new Audits({
    clock,
    events: useCases.events,
    report,
    stopped: shutdown.stopping.signal,
    // Loaded only when used, to keep the start fast.
    audit: async (options) =>
      (await import('./http/audit-gateway.ts')).auditShop(parts, plan.egress, options),
  });
  const runtime: ServerRuntime = {
    options,
    settings: plan.settings,
    dataDir,
    tlsCa,
    controlToken,
    style: plan.style,
    stop: shutdown.stop,
    pid: process.pid,
    startedAt: timestamp(clock.now()),
    baseUrl: () => baseUrlOf(options, listening.port),
    stopped: shutdown.stopping.signal,
  };
  const mask = createMask(useCases, controlToken);
  const parts: AppParts = { ...useCases, audits, runtime, dialect, mask };
  const load = async () =>
    (await import('./http/request-listener.ts')).requestListener(
      parts,
      { host: options.host, replaceGlobals: !sharesProcess },
      report,
    );
  const servers = await listen(options, load, dialect, {
    fastPath: initiateFastPath(parts, report),
    edge,
    basePaths: basePathsOf(options),
  });
  shutdown.add(() => Promise.all(servers.map(close)));
  shutdown.add(() => edge?.close());
  const port = portOf(servers[0]);
  listening.port = port;
  // A running audit cancels its payments while they can still be stored.
  shutdown.add(() => audits.ended());
  startWork(plan, store, { courier, useCases }, shutdown);
  const url = ownUrlOf(options, port);
  await folder?.announce({ url, pid: process.pid, controlToken, tlsCa });
  const { publicKey, secretKey } = defaultMerchant(store.state);
  return {
    url,
    port,
    publicKey,
    secretKey,
    dataDir,
    controlToken,
    tlsCa,
    parts,
    /** Notices about the existing state and the certificate. */
    notices: store.notices,
    /** The fault rules in force. */
    faults: () => parts.faults.list.map(faultView),
    /** The current or last audit, without secrets; undefined before the first. */
    lastAudit: () => parts.audits.last && mask(parts.audits.last),
    /** Calls the listener for every new event. */
    onEvent(listener: (event: SimEvent) => void): void {
      parts.events.subscribe((event) => listener(simEventView(event, parts)));
    },
    /** Whether the data folder was removed, moved or replaced. Known after the stop. */
    get isLost() {
      return store.isLost;
    },
    /** Resolves when everything is stopped, whatever caused it. */
    stopped: shutdown.ended,
    /** Finishes open requests, stores everything, and releases the port and the folder. */
    stop: shutdown.stop,
  };
}

function startWork(
  { clock, settings }: Plan,
  store: Store,
  { courier, useCases }: Engine,
  shutdown: Shutdown,
) {
  shutdown.add(() => {
    clock.stop();
    courier.stop();
  });
  courier.start();
  startAutoSettling(store, clock, useCases.payments);
  if (settings.keep) shutdown.add(startRetaining({ store, clock, courier, retention: settings.keep }));
}
