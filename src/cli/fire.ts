import { setTimeout as sleep } from 'node:timers/promises';
import { requireAddress } from '../contract/address.ts';
import { parseDuration } from '../contract/duration.ts';
import { GatewayError } from '../contract/error.ts';
import { IPN_FORMATS } from '../contract/vocabulary.ts';
import type { DeliveryView } from '../library/control-client.ts';
import { VERSION } from '../system/package-info.ts';
import { composeIpn, inventedFields, requireTampering } from '../wire/compose.ts';
import { type Answer, send } from './post.ts';

/** The time-out that a gateway has by default too, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** An IPN that was fired, as the server shows a delivery; without a server it has no id and is kept nowhere. */
export type FiredIpn = Omit<DeliveryView, 'id' | 'attempts' | 'once' | 'merchantId'> & {
  id: string | null;
  attempts: Omit<DeliveryView['attempts'][number], 'id'>[];
};

/**
 * Composes, signs and posts IPNs from here: no server is asked, and nothing is guarded, since the user names the
 * address.
 *
 * @throws GatewayError `usage` or `invalid_fields`
 */
export async function fireWithoutServer(options: Readonly<Record<string, unknown>>): Promise<FiredIpn[]> {
  if (options['payment'] !== undefined) {
    throw new GatewayError(
      'usage',
      '--payment is known to the server only: leave --secret out, or the payment',
    );
  }
  const text = (name: string) => (typeof options[name] === 'string' ? options[name] : undefined);
  const url = requireAddress(text('to'));
  const fields = inventedFields(
    {
      identifier: text('identifier'),
      amount: text('amount'),
      currency: text('currency'),
      status: text('status'),
    },
    { trx: madeUpTrx(), now: Date.now() },
  );
  const tamper = text('tamper');
  const set = options['set'] as Record<string, string> | undefined;
  const composed = composeIpn(fields, requireSecret(text('secret')), {
    format: formatOf(text('format')),
    set,
    tamper: tamper === undefined ? undefined : requireTampering(tamper),
  });
  const fired: FiredIpn[] = [];
  const { times, delayMs } = repetition(options);
  for (let count = 0; count < times; count++) {
    await sleep(delayMs);
    fired.push(await attempt(url, composed));
  }
  return fired;
}

function requireSecret(secret = ''): string {
  if (secret) return secret;
  throw new GatewayError('usage', '--secret must not be empty');
}

function formatOf(text = 'form'): (typeof IPN_FORMATS)[number] {
  const format = IPN_FORMATS.find((name) => name === text);
  if (format) return format;
  throw new GatewayError('usage', `--format must be one of ${IPN_FORMATS.join(', ')} (got "${text}")`);
}

function repetition(options: Readonly<Record<string, unknown>>): { times: number; delayMs: number } {
  const times = Number(options['times'] ?? 1);
  if (!Number.isInteger(times) || times < 1 || times > 1_000) {
    throw new GatewayError(
      'usage',
      `--times must be a whole number from 1 to 1000 (got "${options['times']}")`,
    );
  }
  const delayMs = parseDuration(options['delay'] ?? '0ms');
  if (delayMs !== undefined && delayMs <= 24 * 3_600_000) return { times, delayMs };
  throw new GatewayError(
    'usage',
    `--delay must be a duration such as 500ms, 2s, 1m or 1h, at most 24h (got "${options['delay']}")`,
  );
}

function madeUpTrx(): string {
  return Math.random().toString(36).slice(2, 14).toUpperCase().padEnd(12, '0');
}

async function attempt(
  url: string,
  { contentType, body, signedText, identifier, status }: ReturnType<typeof composeIpn>,
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
  let answer: Answer | undefined;
  let error: string | null = null;
  try {
    answer = await send({ url, method: 'POST', headers: requestHeaders, body: bytes, timeoutMs: TIMEOUT_MS });
    if (answer.status < 200 || answer.status > 299) {
      error = `the receiver answered ${answer.status}: only 2xx counts as received`;
    }
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    error = thrown.message;
  }
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
