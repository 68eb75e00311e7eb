import { setTimeout as sleep } from 'node:timers/promises';
import { requireAddress } from '../contract/address.ts';
import type { Delivery } from '../contract/delivery.ts';
import { parseDuration } from '../contract/duration.ts';
import { GatewayError } from '../contract/error.ts';
import { requireTampering } from '../contract/tampering.ts';
import { IPN_FORMATS, type IpnFormat } from '../contract/vocabulary.ts';
import { dialect } from '../library/merchant-client.ts';
import { VERSION } from '../system/package-info.ts';
import type { IpnTools } from '../wire/dialect.ts';
import type { GivenValues } from './command.ts';
import type { COMMANDS } from './commands/ipn.ts';
import { exchange } from './exchange.ts';

/** The time-out that a gateway has by default too, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** An IPN that was fired, as the server shows a delivery; without a server it has no id and is kept nowhere. */
export type FiredIpn = Omit<Delivery, 'id' | 'attempts' | 'once' | 'merchantId'> & {
  id: string | null;
  attempts: Omit<Delivery['attempts'][number], 'id'>[];
};

type Fields = GivenValues<NonNullable<(typeof COMMANDS.fire)['fields']>>;

/**
 * Composes, signs and posts IPNs from here: no server is asked, and nothing is guarded, since the user names the
 * address.
 *
 * @throws GatewayError `usage` or `invalid_fields`
 */
export async function fireWithoutServer(chosen: Fields, secret: string): Promise<FiredIpn[]> {
  if (chosen.payment !== undefined) {
    throw new GatewayError(
      'usage',
      '--payment is known to the server only: leave --secret out, or the payment',
    );
  }
  const { to, set, tamper } = chosen;
  const url = requireAddress(to);
  const { invent } = await dialect.ipn();
  const made = { trx: madeUpTrx(), now: Date.now(), secretKey: requireSecret(secret) };
  const composed = invent(chosen, made, {
    format: formatOf(chosen.format),
    set,
    tamper: tamper === undefined ? undefined : requireTampering(tamper),
  });
  const { times, delayMs } = repetition(chosen);
  const fired: FiredIpn[] = [];
  for (let count = 0; count < times; count++) {
    await sleep(delayMs);
    fired.push(await attempt(url, composed));
  }
  return fired;
}

function requireSecret(secret: string): string {
  if (secret) return secret;
  throw new GatewayError('usage', '--secret must not be empty');
}

function formatOf(text: string = 'form'): IpnFormat {
  const format = IPN_FORMATS.find((name) => name === text);
  if (format) return format;
  throw new GatewayError('usage', `--format must be one of ${IPN_FORMATS.join(', ')} (got "${text}")`);
}

function repetition({ times: number = '1', delay = '0ms' }: Fields): { times: number; delayMs: number } {
  const times = Number(number);
  if (!Number.isInteger(times) || times < 1 || times > 1_000) {
    throw new GatewayError('usage', `--times must be a whole number from 1 to 1000 (got "${number}")`);
  }
  const delayMs = parseDuration(delay);
  if (delayMs !== undefined && delayMs <= 24 * 3_600_000) return { times, delayMs };
  throw new GatewayError(
    'usage',
    `--delay must be a duration such as 500ms, 2s, 1m or 1h, at most 24h (got "${delay}")`,
  );
}

function madeUpTrx(): string {
  return Math.random().toString(36).slice(2, 14).toUpperCase().padEnd(12, '0');
}

async function attempt(
  url: string,
  { contentType, body, signedText, identifier, status }: ReturnType<IpnTools['invent']>,
): Promise<FiredIpn> {
  const bytes = Buffer.from(body);
  const requestHeaders: [string, string][] = [
    ['Host', new URL(url).host],
    ['Content-Type', contentType],
    ['Content-Length', String(bytes.length)],
    ['User-Agent', `gateway-sim/${VERSION}`],
    ['X-Gateway-Sim', '1'],
  ];
  const startedAt = new Date().toISOString();
  const started = performance.now();
  const { answer, error } = await exchange({
    ...{ url, method: 'POST', headers: requestHeaders, body: bytes },
    timeoutMs: TIMEOUT_MS,
  });
  return {
    ...{ id: null, paymentId: null, identifier, url, status, contentType, body, signedText },
    state: error === null ? 'delivered' : 'failed',
    createdAt: startedAt,
    nextAttemptAt: null,
    note: error,
    attempts: [
      {
        ...{ number: 1, startedAt, url, requestHeaders, error },
        durationMs: Math.round((performance.now() - started) * 10) / 10,
        requestBody: body,
        responseStatus: answer?.status ?? null,
        responseHeaders: answer?.headers ?? [],
        responseBody: answer?.body.toString('utf8') ?? null,
      },
    ],
  };
}
