import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describeFailure } from '../contract/describe-delivery.ts';
import { GatewayError } from '../contract/error.ts';
import { hint, option } from '../contract/hint.ts';
import { Egress } from '../delivery/egress.ts';
import { type Answer, failureOf, headerPairs } from '../delivery/sender.ts';
import { dialect } from '../library/merchant-client.ts';
import type { IpnTools, VerifyKeys } from '../wire/dialect.ts';
import type { Io } from './io.ts';
import type { Output } from './output.ts';
import { sendRequest } from './send-request.ts';
import { verdictText } from './verify-input.ts';

/** Where the examples of this tool send their IPNs. */
const DEFAULT_PORT = 3000;
/** No IPN is anywhere near this large. */
const MAX_BODY_BYTES = 2 ** 20;
/** The target of --forward-to has this long: a little less than the gateway gives a receiver. */
const FORWARD_TIMEOUT_MS = 9_500;

/** Headers that belong to one connection and not to what goes through it. */
const PER_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

interface Listening extends Pick<IpnTools, 'verify'> {
  keys: VerifyKeys;
  renewKeys: () => Promise<VerifyKeys>;
  forwardTo: string | undefined;
  egress: Egress;
  output: Output;
}

/**
 * Receives, verifies and prints what comes until SIGINT or SIGTERM.
 *
 * @param readKeys those of a running emulator can be replaced while this listens
 * @throws GatewayError `usage`, `port_in_use`, `forbidden` for where the egress guard lets nothing out, or what `readKeys` throws at first
 */
export async function listenForIpns(
  options: Readonly<Record<'port' | 'forwardTo', string | undefined>> & {
    allowIpnHost: readonly string[] | undefined;
  },
  readKeys: () => Promise<VerifyKeys>,
  { io: { signals }, output }: { io: Pick<Io, 'signals'>; output: Output },
): Promise<void> {
  const forwardTo = forwardAddress(options.forwardTo);
  const egress = new Egress(options.allowIpnHost ?? [], () => undefined);
  if (forwardTo !== undefined) egress.check(new URL(forwardTo));
  const keys = await readKeys();
  const { verify } = await dialect.ipn();
  const renewKeys = () => readKeys().catch(() => keys);
  const listening = { verify, keys, renewKeys, forwardTo, egress, output };
  const server = createServer((request, response) => void receive(request, response, listening));
  const port = await bind(server, portOf(options.port));
  const url = `http://127.0.0.1:${port}`;
  const target = forwardTo === undefined ? '' : `, passing them on to ${forwardTo}`;
  output.line(
    output.json
      ? JSON.stringify({ event: 'ready', url, port, forwardTo: forwardTo ?? null, pid: process.pid })
      : `Listening for IPNs at ${url}${target}. Ctrl-C stops.`,
  );
  await new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM']) signals.once(name, resolve);
  });
  server.close();
  server.closeAllConnections();
}

function portOf(text: string | undefined): number {
  const port = text === undefined ? DEFAULT_PORT : Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= 65_535 && text !== '') return port;
  throw new GatewayError('usage', `--port must be a whole number from 0 to 65535 (got "${text}")`);
}

function forwardAddress(text: string | undefined): string | undefined {
  if (text === undefined || (/^https?:\/\/[^/]/i.test(text) && URL.canParse(text))) return text;
  throw new GatewayError('usage', `--forward-to must be an absolute http or https address (got "${text}")`);
}

function bind(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why =
        error.code === 'EADDRINUSE' ? 'is in use by another process' : `cannot be used: ${error.message}`;
      reject(
        new GatewayError('port_in_use', `port ${port} ${why}`, {
          hint: hint`Choose another one with ${option('port')} (0 takes a free one).`,
        }),
      );
    });
    server.listen({ port, host: '127.0.0.1' }, () => resolve((server.address() as AddressInfo).port));
  });
}

async function receive(
  request: IncomingMessage,
  response: ServerResponse,
  { verify, keys, renewKeys, forwardTo, egress, output }: Listening,
): Promise<void> {
  const body = await readBody(request).catch(() => null);
  if (body === null) {
    response.writeHead(413, { Connection: 'close' }).end('too large\n');
    return;
  }
  const text = body.toString('utf8');
  const first = verify(text, keys);
  const verdict = first.authentic ? first : verify(text, await renewKeys());
  const own: Answer =
    request.method === 'POST'
      ? plain(verdict.authentic ? 200 : 400, verdict.authentic ? 'OK' : verdict.reasons.join('\n'))
      : plain(405, 'an IPN is a POST');
  const answer = forwardTo === undefined ? own : await passOn(request, body, forwardTo, egress);
  const { method = '', url = '', headers } = request;
  const seen = { event: 'ipn', at: new Date().toISOString(), method, url, headers, body: text };
  const destination = forwardTo === undefined ? '' : ` by ${forwardTo}`;
  output.line(
    output.json
      ? JSON.stringify({ ...seen, verdict, answered: answer.status })
      : `--> ${method} ${url}  answered ${answer.status}${destination}\n${text}\n${verdictText(verdict)}\n`,
  );
  response.writeHead(answer.status, answer.headers.flat()).end(answer.body);
}

function plain(status: number, text: string): Answer {
  const body = Buffer.from(`${text}\n`);
  const headers: [string, string][] = [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Length', String(body.length)],
  ];
  if (status === 405) headers.push(['Allow', 'POST']);
  return { status, headers, body };
}

/** Null when it is too large; all of it is read, so that the sender gets its answer. */
async function readBody(request: IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size <= MAX_BODY_BYTES) chunks.push(chunk as Buffer);
  }
  return size <= MAX_BODY_BYTES ? Buffer.concat(chunks) : null;
}

/** The same bytes and headers to another receiver, and what that one answers. */
async function passOn(
  request: IncomingMessage,
  body: Buffer,
  forwardTo: string,
  egress: Egress,
): Promise<Answer> {
  const target = new URL(forwardTo);
  const query = /\?(.*)$/s.exec(request.url ?? '')?.[1];
  if (query) target.search += `${target.search ? '&' : '?'}${query}`;
  const headers = throughHeaders(headerPairs(request.rawHeaders), body).map(
    ([name, value]): [string, string] => [name, name.toLowerCase() === 'host' ? target.host : value],
  );
  const { answer, failure } = await sendRequest(
    { url: target.href, method: request.method ?? 'POST', headers, body, timeoutMs: FORWARD_TIMEOUT_MS },
    egress,
  ).catch((error: unknown) => ({ answer: null, failure: failureOf(error, target.href) }));
  if (!answer) {
    return plain(502, `not passed on: ${failure && describeFailure(failure, { url: target.href })}`);
  }
  return { ...answer, headers: throughHeaders(answer.headers, answer.body) };
}

/** The headers that go through, with the length that the body has here. */
function throughHeaders(headers: Answer['headers'], body: Buffer): Answer['headers'] {
  const kept = headers.filter(([name]) => !PER_CONNECTION.has(name.toLowerCase()));
  return [...kept, ['Content-Length', String(body.length)]];
}
