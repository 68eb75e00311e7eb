import { hostName, isEmail, isLoopback } from './contract/address.ts';
import { didYouMean, usage } from './contract/error.ts';
import { readOrigin } from './contract/page-origin.ts';
import { parseDuration } from './contract/time.ts';
import { SENT_ON_REQUEST } from './contract/vocabulary.ts';
import type { Egress } from './delivery/egress.ts';
import { mapped, readForwarding } from './domain/host-map.ts';
import { DOCUMENTED_CURRENCIES, parseCurrency } from './domain/money.ts';
import type { Settings, Structures } from './domain/settings.ts';
import type { OptionName, ResolvedOptions } from './options/start-options.ts';

type Label = (name: OptionName) => string;

const LONGEST_WAIT_MS = 30 * 24 * 3_600_000;

/** Limits in milliseconds, and as text. */
const LIMITS = {
  autoDelay: [0, LONGEST_WAIT_MS, 'at most 720h'],
  paymentExpires: [1, LONGEST_WAIT_MS, 'from 1ms to 720h'],
  ipnTimeout: [1, 10 * 60_000, 'from 1ms to 10m'],
} as const;

/**
 * The settings of the gateway for these options.
 *
 * @param terms the structures of the configuration
 * @throws GatewayError `usage`, with the option whose value is invalid
 */
export function settingsOf(
  options: ResolvedOptions,
  terms: Structures,
  egress: Egress,
  label: Label,
): Settings {
  const { choices, sandboxEmail, sandboxCode, delivery, publicKey } = options;
  const invalid = (name: OptionName, expected: string, got: string) =>
    usage(`${label(name)} must be ${expected} (got "${got}")`);

  function within(name: keyof typeof LIMITS, milliseconds: number): number {
    const [minimum, maximum, words] = LIMITS[name];
    if (milliseconds >= minimum && milliseconds <= maximum) return milliseconds;
    throw usage(`${label(name)} must be ${words}`);
  }

  if (!isEmail(sandboxEmail)) throw invalid('sandboxEmail', 'an e-mail address', sandboxEmail);
  if (publicKey !== undefined && publicKey === options.secretKey) {
    throw usage(`${label('publicKey')} and ${label('secretKey')} must differ`);
  }

  const forwarding = readForwarding(options.forwardIpn);
  if (typeof forwarding === 'string') throw usage(`${label('forwardIpn')} ${forwarding}`);
  const target = (url: string) => mapped(url, forwarding.hosts);

  const currencies = [...DOCUMENTED_CURRENCIES, ...terms.currencies, ...options.currency.map(parseCurrency)];

  const origins = options.allowOrigin.map((text) => {
    const origin = readOrigin(text);
    if (origin !== undefined) return origin;
    throw invalid('allowOrigin', 'an origin such as https://shop.example, without a path, or null', text);
  });
  const own = options.publicUrl && readOrigin(new URL(options.publicUrl).origin);
  const hosts = new Set(aliasesOf(options, label));

  const alsoOn = options.ipnOn.map((text) => {
    const status = SENT_ON_REQUEST.find((name) => name === text);
    if (status) return status;
    const help = didYouMean(text, SENT_ON_REQUEST);
    throw usage(`${label('ipnOn')} accepts ${SENT_ON_REQUEST.join(', ')} (got "${text}")${help}`);
  });
  const waits = options.ipnSchedule.map((text) => {
    const wait = parseDuration(text);
    if (wait !== undefined && wait <= LONGEST_WAIT_MS) return wait;
    throw invalid('ipnSchedule', 'durations such as 1s,5s,30s, each at most 720h', text);
  });
  const { ipnRetries } = options;

  return {
    choices,
    sandboxEmail,
    sandboxCode,
    delivery,
    currencies: new Map(currencies.map((currency) => [currency.code, currency])),
    charges: terms.charges,
    pages: { origins: new Set([...origins, ...(own ? [own] : [])]), hosts },
    ipn: {
      format: options.ipnFormat,
      amountFormat: options.amountFormat,
      on: new Set(['succeeded', ...alsoOn]),
      schedule: Array.from({ length: ipnRetries }, (_, index) => waits[index] ?? waits.at(-1) ?? 0),
      timeoutMs: within('ipnTimeout', options.ipnTimeout),
      forwardTo: forwarding.to,
    },
    auto: {
      rules: terms.outcomes,
      outcome: options.auto ?? null,
      delayMs: within('autoDelay', options.autoDelay),
    },
    paymentExpiresMs:
      options.paymentExpires === undefined ? null : within('paymentExpires', options.paymentExpires),
    mapped: target,
    looksLocal: (url) => egress.looksLocal(target(url)),
    unreachable: (url) => (forwarding.to === null ? unreachable(target(url), egress) : null),
  };
}

/** A name is resolved when an IPN is sent. Until then, nobody knows whether it exists and needs to be allowed. */
function unreachable(url: string, egress: Egress): string | null {
  const problem = egress.unreachable(url);
  const name = hostName(new URL(url).hostname);
  const isKnown = name === undefined || isLoopback(name);
  return problem && !isKnown ? `${name} must resolve to a loopback or private address` : problem;
}

/**
 * The host names that clients use for the gateway.
 *
 * @throws GatewayError `usage` for an invalid host name, or one that already means this machine
 */
export function aliasesOf({ hostAlias, proxy }: ResolvedOptions, label: Label): string[] {
  if (proxy && !hostAlias.length) {
    throw usage(`${label('proxy')} requires ${label('hostAlias')} with at least one host`);
  }
  const names = hostAlias.map((text) => {
    // The path after it is a base path of the routes.
    const name = hostName(text.replace(/\/[\w./~-]*$/, ''));
    const expected = `a host name without a scheme or port, such as pay.example.com or pay.example.com/base (got "${text}")`;
    if (name === undefined) throw usage(`${label('hostAlias')} must be ${expected}`);
    if (isLoopback(name)) throw usage(`${label('hostAlias')} ${text} already means this machine: omit it`);
    return name;
  });
  return [...new Set(names)];
}
