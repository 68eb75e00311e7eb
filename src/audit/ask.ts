import type { IncomingMessage } from 'node:http';
import { requireAddress } from '../contract/address.ts';
import { describeFailure } from '../contract/describe-delivery.ts';
import { GatewayError } from '../contract/error.ts';
import { type Egress, EgressError } from '../delivery/egress.ts';
import { failureOf, IDENTITY, type Outgoing, open } from '../delivery/sender.ts';
import { VERSION } from '../system/package-info.ts';

const HEADERS = [
  ['User-Agent', `gateway-sim/${VERSION}`],
  ['Accept', '*/*'],
  IDENTITY,
  ['Connection', 'close'],
] as const;

/**
 * Asks the shop at an address of the user, which places an order or tells of one.
 *
 * @param read what is of interest in the answer; the rest is not read
 * @param failed how a failure is told, up to its reason
 * @throws GatewayError `forbidden` by the guard, else `check_failed`
 */
export async function ask<Result>(
  request: Pick<Outgoing, 'url' | 'method' | 'guard' | 'timeoutMs'> & { signal?: AbortSignal | undefined },
  read: (answer: IncomingMessage) => Result,
  failed: string,
): Promise<Awaited<Result>> {
  const headers = request.method === 'POST' ? [...HEADERS, ['Content-Length', '0'] as const] : HEADERS;
  try {
    const { signal, ...rest } = request;
    const answer = await open({ ...rest, headers, agent: false, ...(signal && { signal }) });
    try {
      return await read(answer);
    } finally {
      answer.destroy();
    }
  } catch (error) {
    if (error instanceof EgressError) throw error;
    request.signal?.throwIfAborted();
    const why = describeFailure(failureOf(error, request.url), request);
    throw new GatewayError('check_failed', `${failed}: ${why}`, { cause: error });
  }
}

const IN_WORDS: Readonly<Record<string, string>> = {
  ipnUrl: 'the address of the IPN handler',
  orderUrl: 'the address that places orders',
  probeUrl: 'the address of the probe',
};

/**
 * @param name of the option
 * @throws GatewayError `invalid_fields` for what is no address, `forbidden` for one that may not be reached
 */
export function requireReachable(egress: Egress, name: string, url: string | undefined): void {
  const problem = egress.unreachable(requireAddress(url, IN_WORDS[name] ?? name));
  if (problem !== null) throw new GatewayError('forbidden', `${name} may not be reached: ${problem}`);
}
