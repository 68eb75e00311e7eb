import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { noServer } from '../library/control-client.ts';

/** What is at an address: an emulator that is ready, or not yet (or no more), something else, or nothing. */
export type Found = 'ready' | 'unready' | 'foreign' | 'nothing';

/**
 * Looks at an address without changing anything there. Needs no control token.
 *
 * @param limitMs for the answer, in real time
 */
export async function probe(url: string, limitMs: number): Promise<Found> {
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/_sim/readyz`, {
      redirect: 'manual',
      signal: AbortSignal.timeout(Math.max(1, limitMs)),
    });
    await response.body?.cancel();
    if (response.headers.get('X-Gateway-Sim') === null) return 'foreign';
    return response.ok ? 'ready' : 'unready';
  } catch (error) {
    // What takes a connection and then says nothing is still there.
    return (error as Error).name === 'TimeoutError' ? 'unready' : 'nothing';
  }
}

/** The time that an emulator has to show itself. */
const LIMIT_MS = 5_000;

/**
 * Makes sure that an emulator is at an address, before something is sent there that another server should not get.
 *
 * @throws GatewayError `no_server`
 */
export async function requireEmulator(url: string): Promise<void> {
  const found = await probe(url, LIMIT_MS);
  if (found === 'nothing') throw noServer(url);
  if (found === 'foreign') throw foreignServer(url);
}

/** The error for an address where something answers that is not ours. */
export function foreignServer(url: string): GatewayError {
  return new GatewayError('no_server', `what answers at ${url} is no gateway-sim: it was left alone`, {
    hint: hint`Say where the emulator is with ${option('url')} or ${option('dataDir')}.`,
  });
}
