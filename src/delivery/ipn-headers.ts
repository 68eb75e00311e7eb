import { basicCredentials } from '../contract/address.ts';
import type { IpnRequest } from '../domain/ipn.ts';
import { VERSION } from '../system/package-info.ts';

type Header = [name: string, value: string];

/** Marks requests of the emulator. */
export const MARK: Readonly<Header> = ['X-Gateway-Sim', '1'];

/**
 * The headers of a request to a receiver, from an emulator or a command: in the order of curl, then our own.
 *
 * @param target `named` is the address whose host the request names
 * @param content `contentType` is null for none
 */
export function ipnHeaders(
  { url, named }: { url: string; named: string },
  { contentType, body }: Pick<IpnRequest, 'contentType'> & { body?: string | Buffer | undefined },
): Header[] {
  const credentials = basicCredentials(url);
  const headers: (Readonly<Header> | undefined)[] = [
    ['Host', hostIn(named)],
    credentials === undefined ? undefined : ['Authorization', `Basic ${credentials}`],
    ['User-Agent', `gateway-sim/${VERSION}`],
    ['Accept', '*/*'],
    body === undefined ? undefined : ['Content-Length', String(Buffer.byteLength(body))],
    contentType === null ? undefined : ['Content-Type', contentType],
    MARK,
  ];
  return headers.flatMap((header): Header[] => (header ? [[...header]] : []));
}

export const deliveryHeader = (id: string): Header => ['X-Gateway-Sim-Delivery', id];
export const attemptHeader = (number: number): Header => ['X-Gateway-Sim-Attempt', String(number)];

/** The host and port of an address, in the letter case in which curl sends them. */
function hostIn(url: string): string {
  const { host } = addressOf(url);
  const [, written = ''] = /^[a-z]+:\/\/(?:[^/?#]*@)?([^/?#]*)/i.exec(url) ?? [];
  return written.toLowerCase() === host ? written : host;
}

/** The parts of an address. Only an edited state can contain an invalid address: the attempt reports it. */
export function addressOf(url: string): Pick<URL, 'origin' | 'host' | 'hostname'> {
  try {
    return new URL(url);
  } catch {
    return { origin: '', host: '', hostname: '' };
  }
}
