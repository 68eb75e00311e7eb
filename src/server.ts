import { randomBytes, randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { describeFault } from './contract/active-fault.ts';
import { isLoopback } from './contract/address.ts';
import { GatewayError, type HintStyle, hint, NPX, option, usage } from './contract/error.ts';
import type { SimEvent } from './contract/event.ts';
import type { Merchant } from './contract/merchant.ts';
import { foreignKeys, KEY_PREFIXES, masked, Secrets } from './contract/secrets.ts';
import { timestamp } from './contract/time.ts';
import { Courier } from './delivery/courier.ts';
import { allowedHosts, Egress } from './delivery/egress.ts';
import { Poster } from './delivery/poster.ts';
import { type SeenRows, UNSEEN } from './diagnosis/seen-rows.ts';
import { prepare } from './domain/bootstrap.ts';
import { Faults } from './domain/faults.ts';
import { createIds } from './domain/ids.ts';
import { defaultMerchant } from './domain/merchant.ts';
import { type Context, NO_STRUCTURES, type Structures } from './domain/settings.ts';
import type { AppDependencies, ServerRuntime } from './http/environment.ts';
import { listen, nameIn } from './http/listener.ts';
import { aliasesOf, settingsOf } from './interpret-options.ts';
import {
  basePathsOf,
  baseUrlOf,
  givenAs,
  isGivenByUser,
  isSecure,
  ownUrlOf,
  spellingOf,
} from './options/resolve.ts';
import type { OptionName, ResolvedOptions } from './options/start-options.ts';
import { composer } from './service/ipn.ts';
import { initialSnapshots } from './store/fixtures.ts';
import { DataFolder } from './store/folder.ts';
import { Store } from './store/store.ts';
import { Clock } from './system/clock.ts';
import { seededRandom, systemRandom } from './system/random.ts';
import { Shutdown } from './system/shutdown.ts';
import { startAutoSettling } from './usecases/auto-settle.ts';
import { resumeClock } from './usecases/clock.ts';
import { EventLog, type SimEvent as LoggedEvent } from './usecases/event-log.ts';
import { createUseCases } from './usecases/use-cases.ts';

type EventListener = (event: SimEvent) => void;

/** Maximum characters of a host in an event. */
const MAX_HOST = 80;

/** Settings that are not options. */
interface ServerSurroundings {
  /** Whether the fixtures come from the configuration file. If so, an existing state needs no notice. */
  standingFixtures?: boolean;
  /** How pages and log lines write commands and options. By default, commands start with npx. */
  style?: HintStyle;
  /** Logs internal errors. */
  report: (error: unknown) => void;
  /** Reports urgent warnings to the user, such as a full disk. */
  warn: (text: string) => void;
}

/**
 * Builds and starts an emulator. Resolves when it is ready.
 *
 * @throws GatewayError `port_in_use`, `folder_in_use`, `storage_failed`, `state_damaged` or `usage`, with nothing left
 *   open or locked
 */
export async function startServer(options: ResolvedOptions, surroundings: ServerSurroundings) {
  const shutdown = new Shutdown();
  // Every open event stream adds a listener.
  setMaxListeners(0, shutdown.stopping.signal);
  try {
    const plan = await readOptions(options, surroundings);
    const opened = await open(plan, shutdown);
    const emulator = await build(plan, opened, shutdown);
    return await start(plan, opened, emulator, shutdown);
  } catch (error) {
    // The user needs the first error, not a later one.
    await shutdown.close().catch(() => {});
    throw error;
  }
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

type Plan = Awaited<ReturnType<typeof readOptions>>;
type Opened = Awaited<ReturnType<typeof open>>;
type Emulator = Awaited<ReturnType<typeof build>>;

/** Reads the options. It opens nothing, so an error in them has no effect. */
async function readOptions(options: ResolvedOptions, surroundings: ServerSurroundings) {
  const { style = NPX } = surroundings;
  const { ipnCa, ipnInsecure } = options;
  const terms = await structuresIn(options);
  const label = (name: OptionName) => givenAs(options, name) ?? spellingOf(name, style);
  /** Its port is known while the server listens. */
  const address: { port?: number } = {};
  const egress = new Egress(allowedHosts(options), () => address.port);
  const aliases = aliasesOf(options, label);
  const settings = settingsOf(options, terms, egress, label);
  return {
    ...surroundings,
    options,
    style,
    label,
    address,
    baseUrl: () => baseUrlOf(options, address.port),
    egress,
    aliases,
    settings,
    preparation: { ...options, wallets: terms.wallets },
    initialFaults: terms.faults,
    initial: initialSnapshots(options.fixtures, label('fixtures'), [...settings.currencies.keys()]),
    controlToken:
      options.controlToken ?? (isLoopback(options.host) ? null : randomBytes(18).toString('base64url')),
    identify: isSecure(options)
      ? await (await certificates()).planIdentity(options, aliases, label)
      : async () => null,
    trust: {
      ca:
        ipnCa === undefined
          ? undefined
          : await (await certificates()).readCertificates(ipnCa, label('ipnCa')),
      insecure: ipnInsecure,
    },
  };
}

/** Loaded only for options about certificates, to keep the start fast. */
const certificates = () => import('./tls/identity.ts');

/** The structures in the options. Loads their schemas only if there are some, to keep the start fast. */
async function structuresIn(options: ResolvedOptions): Promise<Structures> {
  const { charges, currencies, wallets, outcomes, faults } = options;
  if ([charges, currencies, wallets, outcomes, faults].every((one) => one === undefined))
    return NO_STRUCTURES;
  return (await import('./domain/configuration.ts')).readStructures(options);
}

/** Locks the folder, reads the state and adapts it to the options. */
async function open(plan: Plan, shutdown: Shutdown) {
  const { options, label, settings, initial, warn } = plan;
  const isNamed = isGivenByUser(options, 'dataDir');
  const folder = options.inMemory ? null : await DataFolder.acquire(options.dataDir, { isNamed, warn });
  shutdown.add(() => folder?.release());
  const currencies = [...settings.currencies.keys()];
  const files = folder && {
    folder: folder.path,
    assertOurs: folder.assertOurs,
    isTakenOver: folder.isTakenOver,
    fsync: options.fsync,
    currencies,
    warn,
  };
  const store = files ? await Store.open(files, initial) : Store.inMemory(await initial());
  shutdown.add(() => store.close());
  store.notices.unshift(...(folder?.notices ?? []));
  if (store.found && options.fixtures !== undefined && !plan.standingFixtures) {
    store.notices.push(
      `${label('fixtures')} is ignored because ${folder?.path} already has a state (use state reset to load it)`,
    );
  }
  if (plan.controlToken === null && options.publicUrl && !isLoopback(new URL(options.publicUrl).hostname)) {
    store.notices.push(
      `anyone who can reach ${options.publicUrl} can read the keys and settle payments; set ${label('controlToken')} to require a token`,
    );
  }
  const clock = new Clock();
  resumeClock(clock, store.state);
  const repinned = repinnedKey(plan, store);
  await store.commit((state) => prepare(state, plan.preparation, settings));
  if (repinned) store.notices.push(`the stored keys were replaced, because ${repinned} differs`);
  const keys = defaultMerchant(store.state);
  const foreign = foreignKeys(keys).map((name) => `${label(name)} (${masked(keys[name])})`);
  if (foreign.length) {
    store.notices.push(
      `never use a real key here: ${foreign.join(' and ')} may be one, because keys of gateway-sim begin with ${Object.values(KEY_PREFIXES).join(' or ')}`,
    );
  }
  const identity = await plan.identify(folder?.path ?? null);
  shutdown.add(() => identity?.remove?.());
  store.notices.push(...(identity?.notices ?? []));
  return { folder, store, clock, identity };
}

/**
 * The first pinned key that replaces a stored one, as the user named it.
 *
 * @throws GatewayError `usage` for half a pair: the other half would stay that of the stored pair
 */
function repinnedKey({ options, label, style }: Plan, store: Store): string | undefined {
  const stored = defaultMerchant(store.state);
  const names = ['publicKey', 'secretKey'] as const;
  const given = names.filter((name) => options[name] !== undefined);
  const changed = given.find((name) => options[name] !== stored[name]);
  if (!store.found || changed === undefined) return undefined;
  if (given.length === names.length) return label(changed);
  const both = names.map((name) => spellingOf(name, style)).join(' and ');
  throw usage(`${label(changed)} is not the stored key: set both ${both}, or neither`);
}

/** Builds the use cases, and what sends IPNs. Nothing is sent yet. */
async function build(plan: Plan, { folder, store, clock, identity }: Opened, shutdown: Shutdown) {
  const { options, settings, egress, initial, preparation, controlToken, style, baseUrl, report } = plan;
  const random = systemRandom;
  const stopped = shutdown.stopping.signal;
  // Before the log, which shows each change.
  const secrets = secretsOf(store, options, controlToken);
  let rows: SeenRows = UNSEEN;
  const run = randomUUID().slice(0, 8);
  const events = new EventLog(store, clock, run, (deliveryId) => rows.whenKnown(deliveryId));
  const notice = (text: string) => events.notice(text);
  const drawIds = () =>
    createIds(options.seed === undefined ? random : seededRandom(options.seed, store.state.size));
  let ids = drawIds();
  const context = (requestId?: number): Context => ({
    now: clock.now(),
    ids,
    settings,
    ipn: composer,
    requestId: requestId === undefined ? undefined : events.storedRequestId(requestId),
  });
  const faults = new Faults({
    fraction: () => ids.fraction('fault'),
    initial: plan.initialFaults,
    notice,
  });
  const poster = new Poster(egress, plan.trust);
  const shop = await openRows(options, egress, store, (text) => events.warn(text));
  shutdown.add(() => shop.database?.close());
  rows = shop.rows;
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
    settings,
    context,
    random,
    events,
    secrets,
    rows,
    visit: (url) => poster.visit(url, settings.ipn.timeoutMs, stopped),
    // Loaded only when used, to keep the start fast.
    orderProbe: async (by, payment) =>
      (await import('./shop/order-probe.ts')).orderProbe(by, payment, egress, shop.database),
    faults,
    initial,
    preparation,
    renewIds: () => {
      ids = drawIds();
    },
  });
  const runtime: ServerRuntime = {
    options,
    settings,
    dataDir: folder?.path ?? null,
    tlsCa: identity?.caFile ?? null,
    controlToken,
    style,
    stop: shutdown.stop,
    pid: process.pid,
    startedAt: timestamp(clock.now()),
    baseUrl,
    stopped,
  };
  const parts: AppDependencies = {
    ...useCases,
    runtime,
    secrets,
    report,
  };
  return { parts, courier };
}

/** The secrets of an emulator. Replaced keys and addresses, which old records may contain, stay masked. */
function secretsOf(store: Store, options: ResolvedOptions, controlToken: string | null): Secrets {
  const keysOf = (merchants: Iterable<Merchant>) => [...merchants].map(({ secretKey }) => secretKey);
  const keys = [controlToken ?? '', ...keysOf(store.state.merchants.values())];
  const secrets = new Secrets(keys, { later: addressesIn(store) });
  secrets.learn(options);
  store.onChange(({ merchants = [], payments, deliveries }, isImported) => {
    secrets.add(keysOf(merchants));
    // All other addresses come from requests, which are learned when they are read.
    if (isImported) secrets.learn({ payments, deliveries });
  });
  return secrets;
}

function* addressesIn({ state }: Store) {
  for (const { ipnUrl, successUrl, cancelUrl, siteLogo } of state.payments.values())
    yield [ipnUrl, successUrl, cancelUrl, siteLogo];
  for (const { url } of state.deliveries.values()) yield url;
}

/**
 * The shop's database, connected, with its tables. Loaded only when used, to keep the start fast.
 *
 * @throws GatewayError `usage`, `forbidden`
 */
async function openRows(
  { db, dbSkip }: ResolvedOptions,
  egress: Egress,
  store: Store,
  notice: (text: string) => void,
) {
  if (db === undefined) return { database: undefined, rows: UNSEEN };
  const [{ Database }, { ShopRows }] = await Promise.all([
    import('./database/database.ts'),
    import('./diagnosis/shop-rows.ts'),
  ]);
  const database = new Database({ db, dbSkip }, (host, port) => egress.resolve(host, port));
  await database.connect().catch(async (error: unknown) => {
    await database.close();
    if (!(error instanceof GatewayError && error.code === 'check_failed')) throw error;
    throw usage(error.message, { hint: DATABASE_HINT });
  });
  const reported = new Set<string>();
  const rows = new ShopRows({
    read: async (onMoment) => {
      const reading = await database.read(onMoment);
      for (const text of database.notices) if (!reported.has(text)) notice(text);
      for (const text of database.notices) reported.add(text);
      return reading;
    },
    tables: () => ({ count: database.tableCount, leftOut: [...database.notices].join(', ') || undefined }),
    tiesOf: (id) => {
      const payment = store.state.payments.get(store.state.deliveries.get(id)?.paymentId ?? id);
      return payment ? [payment.identifier, payment.trx] : [];
    },
    notice,
  });
  return { database, rows };
}

const DATABASE_HINT = hint`Start the database before gateway-sim, and correct ${option('db')}. A password belongs in ~/.my.cnf or MYSQL_PWD (MySQL, MariaDB), or in ~/.pgpass or PGPASSWORD (PostgreSQL)`;

/** Listens, then starts the work that is due. */
async function start(
  plan: Plan,
  { folder, store, clock, identity }: Opened,
  { parts, courier }: Emulator,
  shutdown: Shutdown,
) {
  const { options, address, controlToken, warn } = plan;
  const { events, faults, runtime } = parts;
  const { dataDir, tlsCa } = runtime;
  const onRejected = (target: string, why: string) => {
    const host = target.replace(/^.*@/, '');
    events.rejectedHost(nameIn(host) ?? host.slice(0, MAX_HOST), why);
  };
  const front =
    identity || options.proxy
      ? // Loaded only when used, to keep the start fast.
        (await import('./http/front.ts')).createFront({
          credentials: identity,
          aliases: options.proxy ? plan.aliases : null,
          url: plan.baseUrl,
          onUntrusted: (why) =>
            warn(`a client does not trust the certificate (${why}): make it trust ${tlsCa}`),
          onRejected,
        })
      : undefined;
  const load = async () => (await import('./http/app.ts')).requestListener(parts);
  const basePaths = basePathsOf(options);
  const listening = await listen(options, load, { front, onRejected, basePaths });
  shutdown.add(listening.close);
  store.notices.push(...listening.notices);
  const { port } = listening;
  address.port = port;
  shutdown.add(() => {
    clock.stop();
    courier.stop();
  });
  courier.start();
  startAutoSettling(store, clock, parts.payments);
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
    /** The fault rules in force, in words. */
    faults: () => faults.list.map(describeFault),
    /** Tells a listener of each event from now on, also of those that come while the listener is loaded. */
    async onEvent(given: EventListener | Promise<EventListener>): Promise<void> {
      const early: LoggedEvent[] = [];
      let tell = (event: LoggedEvent): void => void early.push(event);
      events.subscribe((event) => tell(event));
      const [{ simEventView }, listener] = await Promise.all([import('./http/control/views.ts'), given]);
      tell = (event) => listener(simEventView(event, parts));
      for (const event of early) tell(event);
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
