import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** A request as it came, or an answer as it goes out; a deviation changes it in place. */
export interface Exchange {
  method: string;
  /** With its query. */
  path: string;
  sent: string;
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** An IPN on its way to the receiver. */
export interface RelayedIpn {
  method: string;
  query: string;
  headers: Record<string, string>;
  body: string;
  /** How often it goes out. */
  copies: number;
  /** How long it is held back, in milliseconds: the redirect waits for three seconds at most. */
  afterMs: number;
}

/** One thing that a server does otherwise. */
export interface Deviation {
  name: string;
  /** The line of the manifest that must find it. */
  line: string;
  answer?: (exchange: Exchange) => void;
  ipn?: (ipn: RelayedIpn) => void;
}

/** Where an IPN goes that passes through here: `/relay/3000/ipn` is for port 3000. */
const RELAY = /^\/relay\/(\d+)(\/[^?]*)(?:\?(.*))?$/s;
/** An ipn_url of this machine, as it is or percent-encoded. */
const ADDRESS = /(http(?::|%3A)(?:\/|%2F){2}127\.0\.0\.1(?::|%3A))(\d+)(\/|%2F)(ipn)/g;

/** A server in front of an emulator that passes everything on, and does one thing otherwise. */
export async function startDeviating(emulator: string, { answer, ipn }: Deviation) {
  const { port: behind } = new URL(emulator);
  const server = createServer((incoming, outgoing) => {
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;

  async function handle(incoming: IncomingMessage, outgoing: ServerResponse) {
    const { method = 'GET', url = '/', headers } = incoming;
    const body = await textOf(incoming);
    const [, to, path = '', query = ''] = RELAY.exec(url) ?? [];
    if (to !== undefined) {
      const relayed = { method, query, headers: plain(headers), body, copies: 1, afterMs: 0 };
      ipn?.(relayed);
      if (relayed.afterMs > 0) await setTimeout(relayed.afterMs);
      let status = 200;
      for (let copy = 0; copy < relayed.copies; copy++) {
        const target = `${path}${relayed.query ? `?${relayed.query}` : ''}`;
        ({ status } = await exchange(to, relayed.method, target, relayed.headers, relayed.body));
      }
      outgoing.writeHead(status).end();
      return;
    }
    const relaying = body.replace(ADDRESS, (_, begin: string, own: string, slash: string, rest: string) =>
      [begin, port, slash, 'relay', slash, own, slash, rest].join(''),
    );
    const got = await exchange(behind, method, url, plain(headers), ipn ? relaying : body);
    const seen: Exchange = { method, path: url, sent: body, ...got };
    answer?.(seen);
    outgoing.writeHead(seen.status, { ...seen.headers, 'content-length': Buffer.byteLength(seen.body) });
    outgoing.end(seen.body);
  }

  return {
    url: `http://127.0.0.1:${port}`,
    stop: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Without what is about one connection or one length only. */
function plain(headers: IncomingHttpHeaders): Record<string, string> {
  const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...rest } = headers;
  return Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, String(value)]));
}

async function exchange(
  port: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  body: string,
) {
  const length = body === '' && method === 'GET' ? {} : { 'content-length': Buffer.byteLength(body) };
  const sent = request({
    host: '127.0.0.1',
    port,
    method,
    path,
    headers: { ...headers, ...length },
    agent: false,
  });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return { status: answer.statusCode ?? 0, headers: plain(answer.headers), body: await textOf(answer) };
}

async function textOf(message: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of message.setEncoding('utf8')) text += part;
  return text;
}
