import { type ReceivedRequest, receiveOnLoopback } from '../system/loopback-receiver.ts';

/** An IPN as it arrived. */
export interface ReceivedIpn extends Pick<ReceivedRequest, 'method' | 'headers'> {
  /** What follows the path, without the question mark. */
  query: string;
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
