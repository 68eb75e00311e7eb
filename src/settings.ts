import { parseDuration } from './contract/duration.ts';
import { GatewayError, nearestName } from './contract/error.ts';
import { SENT_ON_REQUEST } from './contract/vocabulary.ts';
import type { Egress } from './delivery/egress.ts';
import type { Terms } from './domain/configuration.ts';
import { DOCUMENTED_CURRENCIES, parseAmountFormat, parseCurrency } from './domain/money.ts';
import type { Settings } from './domain/settings.ts';
import type { OptionName, ResolvedOptions } from './options/table.ts';

/**
 * How the gateway behaves under these options.
 *
 * @param terms what their structures say, as read by `readTerms`
 * @param label what to call an option in an error
 * @throws GatewayError `usage`, naming the option whose value makes no sense
 */
export function settingsOf(
  options: ResolvedOptions,
  terms: Terms,
  egress: Egress,
  label: (name: OptionName) => string,
): Settings {
  const currencies = [...DOCUMENTED_CURRENCIES, ...terms.currencies, ...options.currency.map(parseCurrency)];
  return {
    currencies: new Map(currencies.map((currency) => [currency.code, currency])),
    charges: terms.charges,
    loose: options.loose,
    sandboxEmail: options.sandboxEmail,
    sandboxCode: options.sandboxCode,
    ipn: ipnSettings(options, label),
    delivery: options.delivery,
    auto: {
      rules: terms.outcomes,
      outcome: options.auto ?? null,
      delayMs: within(options.autoDelay, 0, LONGEST_WAIT_MS, `${label('autoDelay')} must be at most 720h`),
    },
    paymentExpiresMs:
      options.paymentExpires === undefined
        ? null
        : within(
            options.paymentExpires,
            1,
            LONGEST_WAIT_MS,
            `${label('paymentExpires')} must be from 1ms to 720h`,
          ),
    unreachable: (url) => (options.forwardIpn === undefined ? egress.unreachable(url) : null),
  };
}

/** Maximum wait of the schedule or for a payment. */
const LONGEST_WAIT_MS = 30 * 24 * 3_600_000;
const LONGEST_TIMEOUT_MS = 10 * 60_000;

function within(milliseconds: number, minimum: number, maximum: number, problem: string): number {
  if (milliseconds >= minimum && milliseconds <= maximum) return milliseconds;
  throw new GatewayError('usage', problem);
}

function ipnSettings(options: ResolvedOptions, label: (name: OptionName) => string): Settings['ipn'] {
  const amountFormat = parseAmountFormat(options.amountFormat);
  if (!amountFormat) {
    throw new GatewayError(
      'usage',
      `${label('amountFormat')} must be sent, stored or fixed:N with N from 0 to 8 (got "${options.amountFormat}")`,
    );
  }
  const alsoOn = options.ipnOn.map((text) => {
    const status = SENT_ON_REQUEST.find((name) => name === text);
    if (status) return status;
    const meant = nearestName(text, SENT_ON_REQUEST);
    throw new GatewayError(
      'usage',
      `${label('ipnOn')} takes ${SENT_ON_REQUEST.join(', ')} (got "${text}")${meant ? `: did you mean ${meant}?` : ''}`,
    );
  });
  return {
    format: options.ipnFormat,
    amountFormat,
    on: new Set(['succeeded', ...alsoOn]),
    schedule: scheduleOf(options, label('ipnSchedule')),
    timeoutMs: within(
      options.ipnTimeout,
      1,
      LONGEST_TIMEOUT_MS,
      `${label('ipnTimeout')} must be from 1ms to 10m`,
    ),
    forwardTo: options.forwardIpn ?? null,
  };
}

function scheduleOf({ ipnSchedule, ipnRetries }: ResolvedOptions, label: string): number[] {
  const waits = ipnSchedule.map((text) => {
    const wait = parseDuration(text);
    if (wait !== undefined && wait <= LONGEST_WAIT_MS) return wait;
    throw new GatewayError(
      'usage',
      `${label} must be durations such as 1s,5s,30s, each at most 720h (got "${text}")`,
    );
  });
  const last = waits.length - 1;
  if (ipnRetries === undefined) return waits;
  return Array.from({ length: ipnRetries }, (_, index) => waits[Math.min(index, last)] ?? 0);
}
