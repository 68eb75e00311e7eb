import { setTimeout as sleep } from 'node:timers/promises';
import { requireAddress } from '../contract/address.ts';
import { type Delivery, FireInput, requireFireable } from '../contract/delivery.ts';
import { GatewayError } from '../contract/error.ts';
import { parseInput } from '../contract/input.ts';
import { describeTamperings, requireTamperings } from '../contract/tampering.ts';
import { Egress } from '../delivery/egress.ts';
import { dialect } from '../library/merchant-client.ts';
import { readSecret } from '../options/secret-file.ts';
import { VERSION } from '../system/package-info.ts';
import type { IpnTools } from '../wire/dialect.ts';
import type { GivenValues } from './command.ts';
import type { COMMANDS } from './commands/ipn.ts';
import { sendRequest } from './send-request.ts';

/** The time-out that a gateway has by default too, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** An IPN that was fired, as the server shows a delivery; without a server it has no id and is kept nowhere. */
export type FiredIpn = Omit<Delivery, 'id' | 'attempts' | 'once' | 'merchantId'> & {
  id: string | null;
  attempts: Omit<Delivery['attempts'][number], 'id'>[];
};

type Fields = GivenValues<NonNullable<(typeof COMMANDS.fire)['fields']>>;

/**
 * Composes, signs and posts IPNs from here: no server is asked.
 *
 * @param allowedHosts those that the user lets IPNs out to, beside private ones
 * @throws GatewayError `usage`, `invalid_fields`, or `forbidden` when the egress guard does not let it out
 */
export async function fireWithoutServer(
  chosen: Fields,
  secret: string,
  allowedHosts: readonly string[],
): Promise<FiredIpn[]> {
  if (chosen.payment !== undefined) {
    throw new GatewayError(
      'usage',
      '--payment is known to the server only: leave --secret out, or the payment',
    );
  }
  const { to, set, unset, tamper, format = 'form', times = 1, delay } = read(chosen);
  const tamperings = requireTamperings(tamper);
  const url = requireAddress(to);
  if (!secret) throw new GatewayError('usage', '--secret must not be empty');
  const secretKey = readSecret(secret, '--secret');
  const trx = Math.random().toString(36).slice(2, 14).toUpperCase().padEnd(12, '0');
  const { invent } = await dialect.ipn();
  const composed = invent(
    chosen,
    { trx, now: Date.now(), secretKey },
    { format, set, unset, tamper: tamperings },
  );
  requireFireable(composed.body, times);
  const egress = new Egress(allowedHosts, () => undefined);
  const forged = describeTamperings(tamperings);
  const fired: FiredIpn[] = [];
  for (let count = 0; count < times; count++) {
    await sleep(delay);
    const sent = await attempt(url, composed, egress);
    fired.push({ ...sent, note: [sent.note, forged].filter((part) => part !== null).join('; ') || null });
  }
  return fired;
}

/** The fields as the server would read them; what is wrong with one is said of its flag. */
function read(chosen: Fields) {
  try {
    return parseInput(FireInput, chosen);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const given = Object.entries(chosen).find(([name]) => error.message.startsWith(`${name} `))?.[1];
    throw new GatewayError('usage', `--${error.message} (got "${given}")`);
  }
}

async function attempt(
  url: string,
  { contentType, body, signedText, identifier, status }: ReturnType<IpnTools['invent']>,
  egress: Egress,
): Promise<FiredIpn> {
  const requestHeaders: [string, string][] = [
    ['Host', new URL(url).host],
    ['Content-Type', contentType],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['User-Agent', `gateway-sim/${VERSION}`],
    ['X-Gateway-Sim', '1'],
  ];
  const startedAt = new Date().toISOString();
  const started = performance.now();
  const { answer, error } = await sendRequest(
    { url, method: 'POST', headers: requestHeaders, body, timeoutMs: TIMEOUT_MS },
    egress,
  );
  return {
    ...{ id: null, paymentId: null, identifier, url, status, contentType, body, signedText },
    state: error === null ? 'delivered' : 'failed',
    createdAt: startedAt,
    ...{ nextAttemptAt: null, underWay: null, forwardedTo: null },
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
