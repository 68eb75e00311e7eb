import { type ReceivedRequest, receiveOnLoopback } from '../system/loopback-receiver.ts';

/** An IPN as received. */
export interface ReceivedIpn extends Pick<ReceivedRequest, 'method' | 'headers'> {
  /** The query string, without the question mark. */
  query: string;
  body: string;
}

/** Receives the IPNs of all lines. Each line has its own mark in the query string of its ipn_url. */
export interface IpnListener extends AsyncDisposable {
  url: string;
  /** The IPNs received for a line. */
  of(mark: string): readonly ReceivedIpn[];
  /** Sets the response status for the IPNs of a line. */
  answerWith(mark: string, status: number): void;
  /** Resolves when a line has this number of IPNs, or after the time limit. */
  wait(mark: string, count: number, limitMs: number): Promise<void>;
}

/** The query parameter that assigns an IPN to its line. */
const MARK = 'conform';

export const markedUrl = (address: string, mark: string): string =>
  `${address}${address.includes('?') ? '&' : '?'}${MARK}=${mark}`;

/**
 * @param port the port to listen on; 0 selects a free one
 * @throws GatewayError `port_in_use`
 */
export async function listenForIpns(port = 0): Promise<IpnListener> {
  const received = new Map<string, ReceivedIpn[]>();
  const statuses = new Map<string, number>();
  const watchers = new Set<() => void>();
  const of = (mark: string) => received.get(mark) ?? [];
  const receiver = await receiveOnLoopback(
    ({ method, url, headers, body }) => {
      const [, query = ''] = /\?(.*)$/s.exec(url) ?? [];
      const mark = new URLSearchParams(query).get(MARK) ?? '';
      received.set(mark, [...of(mark), { method, query, headers, body: body.toString() }]);
      for (const look of watchers) look();
      const status = statuses.get(mark) ?? 200;
      const isRedirect = status >= 300 && status < 400;
      return { status, body: 'OK', headers: isRedirect ? [['Location', '/elsewhere']] : [] };
    },
    port,
    'ipnPort',
  );
  return {
    url: `${receiver.url}/ipn`,
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
    [Symbol.asyncDispose]: receiver.close,
  };
}
