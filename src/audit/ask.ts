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
 * Sends a request to one of the user's addresses, which places or probes an order.
 *
 * @param read reads the needed part of the response
 * @param failed the error message before its cause
 * @throws GatewayError `forbidden` if the guard rejects the address, otherwise `check_failed`
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

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  ipnUrl: 'the URL of the IPN handler',
  orderUrl: 'the URL that places orders',
  probeUrl: 'the URL of the probe',
};

/**
 * @param name the name of the option
 * @throws GatewayError `invalid_fields` for an invalid address, `forbidden` for one that the egress rules reject
 */
export function requireReachable(egress: Egress, name: string, url: string | undefined): void {
  const problem = egress.unreachable(requireAddress(url, DESCRIPTIONS[name] ?? name));
  if (problem !== null) throw new GatewayError('forbidden', `${name} is not allowed: ${problem}`);
}
