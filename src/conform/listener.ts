import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';

/** An IPN as it arrived. */
export interface ReceivedIpn {
  method: string;
  /** What follows the path, without the question mark. */
  query: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

/** Receives the IPNs of all lines; each line has a mark of its own in the query of its ipn_url. */
export interface IpnListener extends AsyncDisposable {
  url: string;
  /** The IPNs of a line so far. */
  of(mark: string): readonly ReceivedIpn[];
  /** What the receiver answers to the IPNs of a line. */
  answerWith(mark: string, status: number): void;
  /** Resolves when a line has so many, or after so many milliseconds. */
  wait(mark: string, count: number, limitMs: number): Promise<void>;
}

/** By this parameter of the query an IPN tells whose it is. */
const MARK = 'conform';

export const markedUrl = (address: string, mark: string): string =>
  `${address}${address.includes('?') ? '&' : '?'}${MARK}=${mark}`;

/**
 * @param port where to listen; 0 takes a free one
 * @throws GatewayError `port_in_use`
 */
export async function listenForIpns(port = 0): Promise<IpnListener> {
  const received = new Map<string, ReceivedIpn[]>();
  const statuses = new Map<string, number>();
  const watchers = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const ipn = await readIpn(request).catch(() => undefined);
    const mark = new URLSearchParams(ipn?.query).get(MARK) ?? '';
    if (ipn) received.set(mark, [...(received.get(mark) ?? []), ipn]);
    const status = statuses.get(mark) ?? 200;
    response.writeHead(status, status >= 300 && status < 400 ? { Location: '/elsewhere' } : {}).end('OK');
    for (const look of watchers) look();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((cause: NodeJS.ErrnoException) => {
    const why =
      cause.code === 'EADDRINUSE' ? 'is in use by another process' : `cannot be used: ${cause.message}`;
    throw new GatewayError('port_in_use', `port ${port} ${why}`, {
      cause,
      hint: hint`Choose another one with ${option('ipnPort')}.`,
    });
  });
  const of = (mark: string) => received.get(mark) ?? [];
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/ipn`,
    of,
    answerWith: (mark, status) => void statuses.set(mark, status),
    wait: (mark, count, limitMs) =>
      new Promise((resolve) => {
        const end = () => {
          watchers.delete(look);
          clearTimeout(timer);
          resolve();
        };
        const look = () => {
          if (of(mark).length >= count) end();
        };
        const timer = setTimeout(end, limitMs);
        watchers.add(look);
        look();
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Longer than any IPN: what comes to a public address may be anything. */
const MAX_CHARACTERS = 65_536;

async function readIpn(request: IncomingMessage): Promise<ReceivedIpn> {
  let body = '';
  for await (const part of request.setEncoding('utf8')) if (body.length < MAX_CHARACTERS) body += part;
  const { method = '', url = '', headers } = request;
  const [, query = ''] = /\?(.*)$/s.exec(url) ?? [];
  return {
    method,
    query,
    body,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}
