import { randomBytes, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { isLoopback } from './contract/address.ts';
import { type HintStyle, NPX } from './contract/error.ts';
import type { SimEvent } from './contract/event.ts';
import { FaultRules } from './contract/fault.ts';
import { parseInput } from './contract/input.ts';
import { timestamp } from './contract/time.ts';
import { Courier } from './delivery/courier.ts';
import { allowedHosts, Egress } from './delivery/egress.ts';
import { Poster } from './delivery/poster.ts';
import { prepare } from './domain/bootstrap.ts';
import { readStructures } from './domain/configuration.ts';
import { Faults } from './domain/faults.ts';
import { createIds } from './domain/ids.ts';
import { defaultMerchant } from './domain/merchant.ts';
import { newestIds } from './domain/retention.ts';
import type { Context } from './domain/settings.ts';
import { planFront, readIpnCa } from './front.ts';
import { faultView, simEventView } from './http/control/views.ts';
import type { AppParts, ServerRuntime } from './http/environment.ts';
import { listen, nameIn } from './http/listener.ts';
import { createMask } from './http/mask.ts';
import { aliasesOf, settingsOf } from './interpret-options.ts';
import { basePathsOf, baseUrlOf, givenAs, isGivenByUser, ownUrlOf } from './options/resolve.ts';
import type { OptionName, ResolvedOptions } from './options/table.ts';
import { initialSnapshots } from './store/fixtures.ts';
import { DataFolder } from './store/folder.ts';
import { Store } from './store/store.ts';
import { Clock } from './system/clock.ts';
import { packagedFixtures } from './system/package-info.ts';
import { seededRandom, systemRandom } from './system/random.ts';
import { Shutdown } from './system/shutdown.ts';
import { createAudits } from './usecases/audits.ts';
import { startAutoSettling } from './usecases/auto-settle.ts';
import { resumeClock } from './usecases/clock.ts';
import { EventLog } from './usecases/event-log.ts';
import { startRetaining } from './usecases/retention.ts';
import { UNSEEN } from './usecases/seen-rows.ts';
import { createUseCases } from './usecases/use-cases.ts';
import { dialect } from './wire/documented/service.ts';

/** Maximum characters of a host in an event. */
const MAX_HOST = 80;

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

/** The shop's database. Loaded only when used, to keep the start fast. @throws GatewayError `usage`, `forbidden` */
async function openRows({ db, dbSkip }: ResolvedOptions, egress: Egress, notice: (text: string) => void) {
  if (db === undefined) return { database: undefined, rows: UNSEEN };
  const [{ Database }, { ShopRows }] = await Promise.all([
    import('./database/database.ts'),
    import('./usecases/shop-rows.ts'),
  ]);
  const database = new Database({ db, dbSkip }, (url) => egress.unreachable(url));
  return { database, rows: new ShopRows(() => database.read(), notice) };
}

export type RunningServer = Awaited<ReturnType<typeof start>>;

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
    return await start(options, surroundings, shutdown);
  } catch (error) {
    // The user needs the first error, not a later one.
    await shutdown.close().catch(() => {});
    throw error;
  }
}

async function start(
  options: ResolvedOptions,
  { standingFixtures = false, sharesProcess = false, style = NPX, report, warn }: ServerSurroundings,
  shutdown: Shutdown,
) {
  // Errors in the options must be found before anything is opened.
  const terms = readStructures(options);
  const label = (name: OptionName) => givenAs(options, name) ?? style.option({ option: name });
  /** The port while the server listens. */
  let port: number | undefined;
  const baseUrl = () => baseUrlOf(options, port);
  const egress = new Egress(allowedHosts(options), () => port);
  const aliases = aliasesOf(options, label);
  const settings = settingsOf(options, terms, egress, label);
  const currencies = [...settings.currencies.keys()];
  const clock = new Clock();
  const preparation = { ...options, wallets: terms.wallets };
  const firstFaults =
    options.faults === undefined ? [] : parseInput(FaultRules, { faults: options.faults }).faults;
  const initial = initialSnapshots(packagedFixtures(), options.fixtures, label('fixtures'), currencies);
  const random = systemRandom;
  const controlToken =
    options.controlToken ?? (isLoopback(options.host) ? null : randomBytes(18).toString('base64url'));
  const onRejected = (target: string, why: string) => {
    const host = target.replace(/^.*@/, '');
    events.rejectedHost(nameIn(host) ?? host.slice(0, MAX_HOST), why);
  };
  const openFront = await planFront({ options, aliases, label, url: baseUrl, dialect, warn, onRejected });
  const trust = { ca: await readIpnCa(options, label), insecure: options.ipnInsecure };

  // Lock the folder and read the state.
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
  if (store.found && options.fixtures !== undefined && !standingFixtures) {
    store.notices.push(
      `${label('fixtures')} is ignored because ${folder?.path} already has a state (use state reset to load it)`,
    );
  }
  if (controlToken === null && options.publicUrl && !isLoopback(new URL(options.publicUrl).hostname)) {
    store.notices.push(
      `anyone who can reach ${options.publicUrl} can read the keys and settle payments; set ${label('controlToken')} to require a token`,
    );
  }

  // Adapt the state to the options, and build the use cases.
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
  await store.commit((state) => prepare(state, preparation, settings));
  const events = new EventLog(store, clock, randomUUID().slice(0, 8));
  const faults = new Faults({
    fraction: () => ids.fraction('fault'),
    initial: firstFaults,
    notice: (text) => events.notice(text),
  });
  const poster = new Poster(egress, trust);
  const { database, rows } = await openRows(options, egress, (text) => events.notice(text));
  const courier = new Courier({
    store,
    clock,
    context,
    faults,
    poster,
    around: (id, run) => rows.around(id, run),
    onWaiting: (delivery, attempt) => events.waiting(delivery, attempt),
  });
  const useCases = createUseCases({
    store,
    clock,
    courier,
    dialect,
    settings,
    context,
    random,
    events,
    rows,
    visit: (url) => poster.visit(url, settings.ipn.timeoutMs, shutdown.stopping.signal),
    // Loaded only when used, to keep the start fast.
    orderProbe: async (by, identifier) =>
      (await import('./audit/order-probe.ts')).orderProbe(by, identifier, egress, database),
    faults,
    initial,
    preparation,
    renewIds,
  });

  // Listen, then start the work that is due.
  const dataDir = folder?.path ?? null;
  const { edge, tlsCa, notices, remove } = await openFront(dataDir);
  shutdown.add(remove);
  store.notices.push(...notices);
  const audits = createAudits({
    clock,
    events,
    report,
    stopped: shutdown.stopping.signal,
    // Loaded only when used, to keep the start fast.
    audit: async (options) => (await import('./http/audit-gateway.ts')).auditShop(parts, egress, options),
  });
  const runtime: ServerRuntime = {
    options,
    settings,
    dataDir,
    tlsCa,
    controlToken,
    style,
    stop: shutdown.stop,
    pid: process.pid,
    startedAt: timestamp(clock.now()),
    baseUrl,
    stopped: shutdown.stopping.signal,
  };
  const mask = createMask(useCases, controlToken);
  const parts: AppParts = { ...useCases, audits, runtime, dialect, mask, report };
  const load = async () => (await import('./http/app.ts')).requestListener(parts, !sharesProcess);
  const listening = await listen(options, load, dialect, {
    edge,
    onRejected,
    basePaths: basePathsOf(options),
  });
  shutdown.add(listening.close);
  store.notices.push(...listening.notices);
  port = listening.port;
  // A running audit cancels its payments while they can still be stored.
  shutdown.add(() => audits.ended());
  shutdown.add(() => {
    clock.stop();
    courier.stop();
  });
  courier.start();
  startAutoSettling(store, clock, useCases.payments);
  if (settings.keep) shutdown.add(startRetaining({ store, clock, courier, retention: settings.keep }));
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
    faults: () => faults.list.map(faultView),
    /** The current or last audit, without secrets; undefined before the first. */
    lastAudit: () => audits.last && mask(audits.last),
    onEvent(listener: (event: SimEvent) => void): void {
      events.subscribe((event) => listener(simEventView(event, parts)));
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
