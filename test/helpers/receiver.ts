import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A request as received. */
export interface Received {
  method: string;
  url: string;
  headers: IncomingHttpHeaders;
  rawHeaders: string[];
  body: string;
  /** The sender's port: the same for requests on one connection. */
  from: number;
  /** Resolves when the sender or the receiver closes the request's connection. */
  closed: Promise<void>;
}

/** How a receiver handles a request. */
export type Answer =
  | {
      status?: number;
      headers?: Record<string, string>;
      body?: string | Buffer;
      /** The response waits for this. */
      after?: Promise<unknown>;
      /** Whether the response declares a longer body than it sends, and stays incomplete. */
      unfinished?: boolean;
    }
  /** Never answers. */
  | 'hang'
  /** Closes the connection without an answer. */
  | 'drop';

/** A merchant's receiver: a real HTTP server on the loopback address and a free port. */
export interface Receiver {
  /** Without a path or a trailing slash. */
  url: string;
  port: number;
  /** Every request whose body has arrived, in that order. */
  requests: Received[];
  /** The maximum number of requests that were open at the same time. */
  mostAtOnce: () => number;
  /** Resolves with the n-th request (counted from 1) as soon as it arrives. */
  request: (number: number) => Promise<Received>;
  close: () => Promise<void>;
}

/**
 * Starts a receiver that is closed at the end of the test.
 *
 * @param script how to handle the first, second, … request; the last entry also applies to all later ones
 * @param ownPort default: any free port
 */
export async function startReceiver(
  script: Answer[] | ((request: Received, number: number) => Answer) = [{}],
  ownPort = 0,
): Promise<Receiver> {
  const requests: Received[] = [];
  const waiters: { number: number; resolve: (request: Received) => void }[] = [];
  let open = 0;
  let most = 0;

  const answerTo = (request: Received, number: number): Answer =>
    typeof script === 'function' ? script(request, number) : (script[number - 1] ?? script.at(-1) ?? {});

  const server = createServer((incoming, outgoing) => {
    open++;
    most = Math.max(most, open);
    outgoing.on('close', () => open--);
    void receive(incoming).then(
      (request) => {
        const number = requests.push(request);
        for (const waiter of waiters) if (waiter.number === number) waiter.resolve(request);
        return respond(outgoing, answerTo(request, number));
      },
      // The sender disconnected before its request was complete.
      () => {},
    );
  });
  await new Promise<void>((resolve) => server.listen(ownPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  onTestFinished(close);

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    requests,
    mostAtOnce: () => most,
    request: (number) =>
      new Promise((resolve) => {
        const there = requests[number - 1];
        if (there) resolve(there);
        else waiters.push({ number, resolve });
      }),
    close,
  };
}

const closings = new WeakMap<Socket, Promise<void>>();

/** One promise per connection, which may carry many requests. */
function closing(socket: Socket): Promise<void> {
  const known = closings.get(socket);
  if (known) return known;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  closings.set(socket, closed);
  return closed;
}

async function receive(incoming: IncomingMessage): Promise<Received> {
  const closed = closing(incoming.socket);
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return {
    method: incoming.method ?? '',
    url: incoming.url ?? '',
    headers: incoming.headers,
    rawHeaders: incoming.rawHeaders,
    body: Buffer.concat(chunks).toString('utf8'),
    from: incoming.socket.remotePort ?? 0,
    closed,
  };
}

async function respond(outgoing: ServerResponse, answer: Answer): Promise<void> {
  if (answer === 'hang') return;
  if (answer === 'drop') {
    outgoing.destroy();
    return;
  }
  await answer.after;
  const body = answer.body ?? '';
  outgoing.writeHead(answer.status ?? 200, {
    ...answer.headers,
    ...(answer.unfinished && { 'content-length': String(Buffer.byteLength(body) + 1) }),
  });
  if (answer.unfinished) outgoing.write(body);
  else outgoing.end(body);
}

/** A promise and the function that resolves it, to delay a response until the test continues it. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}
