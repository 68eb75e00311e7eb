import { randomBytes } from 'node:crypto';
import { ActivityLog } from './activity.ts';
import { CardDesk } from './cards.ts';
import { Clock } from './clock.ts';
import { Courier } from './delivery/courier.ts';
import { Egress } from './delivery/egress.ts';
import { Poster } from './delivery/post.ts';
import { GatewayError, nearestName } from './domain/error.ts';
import { FaultRules } from './domain/fault.ts';
import { Faults } from './domain/faults.ts';
import { createIds } from './domain/ids.ts';
import { defaultMerchant, findWallet } from './domain/merchant.ts';
import { DOCUMENTED_CURRENCIES, parseAmountFormat, parseCurrency } from './domain/money.ts';
import { unique } from './domain/payment.ts';
import { type Context, parseDuration, type Settings, timestamp } from './domain/settings.ts';
import type { Outcome, State, Wallet } from './domain/state.ts';
import { readTerms, type WalletTerms } from './domain/terms.ts';
import { Expiry } from './expiry.ts';
import { Gateway } from './gateway.ts';
import { createApp } from './http/app.ts';
import type { AppParts } from './http/environment.ts';
import { isLoopback } from './http/guard.ts';
import { parseInput } from './http/input.ts';
import { close, listen, portOf } from './http/listener.ts';
import type { ResolvedOptions } from './options.ts';
import { seededRandom, systemRandom } from './random.ts';
import { DataFolder } from './store/folder.ts';
import { readSnapshotFile, type Snapshot } from './store/snapshot.ts';
import { Store } from './store/store.ts';

/** What comes from outside the options. */
export interface ServerSurroundings {
  version: string;
  /** The file with the state that a new folder starts with. */
  fixtures: string;
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
 * @throws GatewayError `port_in_use`, `folder_in_use`, `storage_failed`, `state_damaged` or `usage`
 */
export async function startServer(
  options: ResolvedOptions,
  surroundings: ServerSurroundings,
): Promise<RunningServer> {
  const folder = options.inMemory ? null : await DataFolder.take(options.dataDir);
  try {
    return await startOn(folder, options, surroundings);
  } catch (error) {
    await folder?.release();
    throw error;
  }
}

async function startOn(
  folder: DataFolder | null,
  options: ResolvedOptions,
  { version, fixtures, report }: ServerSurroundings,
): Promise<RunningServer> {
  const initial = async (): Promise<Snapshot> => {
    const snapshot = await readSnapshotFile(fixtures);
    if (!snapshot) throw new GatewayError('state_damaged', `the fixtures ${fixtures} do not exist`);
    return snapshot;
  };
  const store = folder
    ? await Store.open({ folder: folder.path, fsync: options.fsync }, initial)
    : await Store.inMemory(await initial());
  const random = systemRandom();
  const clock = new Clock();
  const listening: { port?: number } = {};
  // Naming the address to forward to lets its host out.
  const letOut = [
    ...options.allowIpnHost,
    ...(options.forwardIpn ? [new URL(options.forwardIpn).hostname] : []),
  ];
  const egress = new Egress(letOut, () => (listening.port ? { port: listening.port } : undefined));
  const settings = settingsOf(options, egress);
  const ids = createIds(options.seed === undefined ? random : seededRandom(options.seed, store.size));
  const context = (): Context => ({ now: clock.now(), ids, settings });
  await store.commit((state) => prepare(state, options, settings));
  const poster = new Poster(egress);
  const faults = new Faults(() => ids.fraction('fault'));
  if (options.faults !== undefined) faults.replace(parseInput(FaultRules, { faults: options.faults }).faults);
  const courier = new Courier({ store, clock, poster, context, version, faults });
  const gateway = new Gateway({ store, clock, courier, settings, context, random });
  const activity = new ActivityLog();
  activity.follow(store);
  const stopping = new AbortController();
  const controlToken = isLoopback(options.host)
    ? null
    : (options.controlToken ?? randomBytes(18).toString('base64url'));
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
    cards: new CardDesk(store, context),
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
      stopped: stopping.signal,
      stop,
    },
  };
  const app = createApp(parts, report);
  const servers = await listen(options, (request, env) => app.fetch(request, env), report);
  listening.port = portOf(servers[0]);
  courier.start();
  new Expiry({ store, clock, gateway }).start();
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

function settingsOf(options: ResolvedOptions, egress: Egress): Settings {
  const terms = readTerms(options);
  const currencies = [...DOCUMENTED_CURRENCIES, ...terms.currencies, ...options.currency.map(parseCurrency)];
  return {
    currencies: new Map(currencies.map((currency) => [currency.code, currency])),
    charges: terms.charges,
    loose: options.loose,
    sandboxEmail: options.sandboxEmail,
    sandboxCode: options.sandboxCode,
    ipn: ipnSettings(options),
    delivery: options.delivery,
    paymentExpiresMs: paymentExpiry(options),
    unreachable: (url) => (options.forwardIpn === undefined ? egress.unreachable(url) : null),
  };
}

/** A wait of the schedule or for a payment, and how long a receiver may take, at most. */
const LONGEST_WAIT_MS = 30 * 24 * 3_600_000;
const LONGEST_TIMEOUT_MS = 10 * 60_000;
const SENT_ON_REQUEST = ['canceled', 'failed', 'expired'] as const;

function paymentExpiry({ paymentExpires }: ResolvedOptions): number | null {
  if (paymentExpires === undefined) return null;
  if (paymentExpires >= 1 && paymentExpires <= LONGEST_WAIT_MS) return paymentExpires;
  throw new GatewayError('usage', '--payment-expires must be from 1ms to 720h');
}

function ipnSettings(options: ResolvedOptions): Settings['ipn'] {
  const amountFormat = parseAmountFormat(options.amountFormat);
  if (!amountFormat) {
    throw new GatewayError(
      'usage',
      `--amount-format must be sent, stored or fixed:N with N from 0 to 8 (got "${options.amountFormat}")`,
    );
  }
  if (options.ipnTimeout < 1 || options.ipnTimeout > LONGEST_TIMEOUT_MS) {
    throw new GatewayError('usage', '--ipn-timeout must be from 1ms to 10m');
  }
  const alsoOn = options.ipnOn.map((text) => {
    const status = SENT_ON_REQUEST.find((name) => name === text);
    if (status) return status;
    const meant = nearestName(text, SENT_ON_REQUEST);
    throw new GatewayError(
      'usage',
      `--ipn-on takes ${SENT_ON_REQUEST.join(', ')} (got "${text}")${meant ? `: did you mean ${meant}?` : ''}`,
    );
  });
  return {
    format: options.ipnFormat,
    amountFormat,
    on: new Set(['succeeded', ...alsoOn]),
    schedule: scheduleOf(options),
    timeoutMs: options.ipnTimeout,
    forwardTo: options.forwardIpn ?? null,
  };
}

function scheduleOf({ ipnSchedule, ipnRetries }: ResolvedOptions): number[] {
  const waits = ipnSchedule.map((text) => {
    const wait = parseDuration(text);
    if (wait !== undefined && wait <= LONGEST_WAIT_MS) return wait;
    throw new GatewayError(
      'usage',
      `--ipn-schedule must be durations such as 1s,5s,30s, each at most 720h (got "${text}")`,
    );
  });
  const last = waits.length - 1;
  if (ipnRetries === undefined) return waits;
  return Array.from({ length: ipnRetries }, (_, index) => waits[Math.min(index, last)] ?? 0);
}

/** Brings a state in line with the options: pinned keys, and a wallet of each kind in every currency. */
function prepare(state: State, options: ResolvedOptions, settings: Settings): Outcome<null> {
  const merchant = defaultMerchant(state);
  const { publicKey = merchant.publicKey, secretKey = merchant.secretKey } = options;
  const repinned = publicKey !== merchant.publicKey || secretKey !== merchant.secretKey;
  const missing = [...settings.currencies.keys()].flatMap((currency) => missingWallets(state, currency));
  const wallets = configuredWallets(state, missing, readTerms(options).wallets, settings);
  return {
    change: {
      ...(repinned && { merchants: [{ ...merchant, publicKey, secretKey }] }),
      ...(wallets.length && { wallets }),
    },
    result: null,
  };
}

/** For a currency that is new here: a wallet for everybody who has one in another currency. */
function missingWallets(state: State, currency: string): Wallet[] {
  const all = [...state.wallets.values()];
  if (all.some((wallet) => wallet.currency === currency)) return [];
  const first = all[0]?.currency;
  return all
    .filter((wallet) => wallet.currency === first)
    .map((wallet) => ({ ...wallet, id: wallet.id.replace(/[a-z]+$/, currency.toLowerCase()), currency }));
}

/** What is made anyway, and the wallets of the configuration that are not there yet: a restart must not fill up what was spent. */
function configuredWallets(
  state: State,
  missing: readonly Wallet[],
  wanted: readonly WalletTerms[],
  settings: Settings,
): Wallet[] {
  const made = [...missing];
  for (const terms of wanted) {
    if (!settings.currencies.has(terms.currency)) {
      const known = [...settings.currencies.keys()].join(', ');
      throw new GatewayError(
        'usage',
        `wallets: the currency ${terms.currency} of ${terms.email} is unknown; known: ${known}`,
        { remedy: 'Add it to "currencies" of the configuration, or with --currency.' },
      );
    }
    const isTheirs = ({ email, currency }: WalletTerms) =>
      email.toLowerCase() === terms.email.toLowerCase() && currency === terms.currency;
    if (findWallet(state, terms.email, terms.currency) || made.some(isTheirs)) continue;
    const name = terms.email.split('@', 1)[0]?.replace(/[^A-Za-z0-9]+/g, '-') ?? '';
    const id = unique(numbered(`wal_${name}`, `_${terms.currency.toLowerCase()}`), (id) =>
      [...state.wallets.values(), ...made].every((wallet) => wallet.id !== id),
    );
    made.push({ id, ...terms });
  }
  return made;
}

/** `wal_ada_usd`, `wal_ada2_usd`, `wal_ada3_usd`, … */
function numbered(start: string, end: string): () => string {
  let count = 0;
  return () => `${start}${++count === 1 ? '' : count}${end}`;
}

function urlOf(host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${name.includes(':') ? `[${name}]` : name}:${port}`;
}
