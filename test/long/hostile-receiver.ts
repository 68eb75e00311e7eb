import type { AddressInfo } from 'node:net';
import { createServer, type Server, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

const OK = 'HTTP/1.1 200 OK\r\n';
/** 20 MB of zeros. */
const BOMB = gzipSync(Buffer.alloc(20_000_000));
const MUCH = Buffer.alloc(2 ** 18, 'a');

/** How a receiver answers a request. */
type Behaviour = (socket: Socket, self: string) => void;

const says =
  (...texts: (string | Buffer)[]): Behaviour =>
  (socket) => {
    for (const text of texts) socket.write(text);
  };

const ends =
  (text: string): Behaviour =>
  (socket) => {
    socket.end(text, 'latin1');
  };

const resets =
  (text: string): Behaviour =>
  (socket) => {
    socket.write(text, () => socket.resetAndDestroy());
  };

/** Sends a few bytes at a time, forever. */
const drips =
  (head: string, drop: string): Behaviour =>
  (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.write(drop), 20);
    socket.on('close', () => clearInterval(timer));
  };

/** Sends large chunks forever, but slowly enough to leave CPU time for others. */
const floods =
  (head: string, chunk: string | Buffer): Behaviour =>
  (socket) => {
    socket.write(head);
    const timer = setInterval(() => socket.writableNeedDrain || socket.write(chunk), 5);
    socket.on('close', () => clearInterval(timer));
  };

const redirects =
  (to: (self: string) => string): Behaviour =>
  (socket, self) => {
    socket.write(`HTTP/1.1 302 Found\r\nLocation: ${to(self)}\r\nContent-Length: 0\r\n\r\n`);
  };

/** Receivers that keep a connection open until the attempt times out. */
export const HANGING: Readonly<Record<string, Behaviour>> = {
  'no response': () => {},
  'half a status line': says('HTTP/1.'),
  'half of the headers': says(`${OK}Content-Le`),
  'unfinished headers': says(`${OK}Content-Length: 2\r\n`),
  'half of the body': says(`${OK}Content-Length: 20\r\n\r\nhalf`),
  'half of a chunk': says(`${OK}Transfer-Encoding: chunked\r\n\r\nff\r\nhalf`),
  'a dripping status line': drips('H', ''),
  'dripping headers': drips(OK, 'X: y\r\n'),
  'a dripping body': drips(`${OK}Content-Length: 100000\r\n\r\n`, 'x'),
  'an endless body': floods(
    `${OK}Transfer-Encoding: chunked\r\n\r\n`,
    Buffer.concat([Buffer.from('40000\r\n'), MUCH, Buffer.from('\r\n')]),
  ),
  'an endless body without a length': floods(`${OK}\r\n`, MUCH),
  'endless interim responses': drips(
    '',
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n',
  ),
};

/** Receivers that complete or break off their response. */
export const ENDING: Readonly<Record<string, Behaviour>> = {
  'an immediate reset': resets(''),
  'a reset after the status line': resets(OK),
  'a reset in the body': resets(`${OK}Content-Length: 20\r\n\r\nhalf`),
  'a close without a response': ends(''),
  'a close in the headers': ends(`${OK}X: y`),
  'a close in the body': ends(`${OK}Content-Length: 20\r\n\r\nhalf`),
  'text that is not HTTP': ends('hello\r\n\r\n'),
  'the response of a TLS server': ends('\x15\x03\x01\x00\x02\x02\x46'),
  'an invalid status': ends('HTTP/1.1 999999 \xff\r\n\r\n'),
  'an unknown HTTP version': ends('HTTP/9.9 200 OK\r\n\r\n'),
  'a line without a colon': ends(`${OK}nonsense\r\n\r\n`),
  'control characters': ends(`${OK}X: a\0b\x07\r\n\r\n`),
  'two lengths': ends(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\nab`),
  'a length with chunks': ends(`${OK}Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`),
  'a negative length': ends(`${OK}Content-Length: -5\r\n\r\n`),
  'a huge length': ends(`${OK}Content-Length: 99999999999999999999\r\n\r\n`),
  'a broken chunk': ends(`${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\n`),
  'endless headers': floods(OK, 'X-Header: value\r\n'.repeat(2_000)),
  'an upgrade': ends('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nhello'),
  'a body with a 204': ends('HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello'),
  'a second response': ends(`${OK}Content-Length: 2\r\n\r\nOKHTTP/1.1 500 No\r\n\r\n`),
  'a gzip bomb': says(`${OK}Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n\r\n`, BOMB),
  'a redirect to itself': redirects((self) => self),
  'a redirect to metadata': redirects(() => 'http://169.254.169.254/latest/meta-data/'),
  'a redirect to the control API': redirects(() => 'http://127.0.0.1:4477/_sim/shutdown'),
  'a Retry-After of a century': ends(
    'HTTP/1.1 503 No\r\nRetry-After: 3153600000\r\nContent-Length: 0\r\n\r\n',
  ),
};

export interface HostileReceiver {
  url: string;
  /** The number of received requests. */
  requests: () => number;
  /** The number of closed connections. */
  closed: () => number;
}

/** Starts a receiver on a free loopback port. It is closed at the end of the test. */
export async function startHostileReceiver(behave: Behaviour): Promise<HostileReceiver> {
  let [requests, closed] = [0, 0];
  const sockets = new Set<Socket>();
  let url = '';
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket
      .on('error', () => {})
      .on('close', () => {
        closed++;
        sockets.delete(socket);
      });
    let isAsked = false;
    socket.on('data', (chunk) => {
      if (/^[A-Z]+ \//.test(chunk.toString('latin1', 0, 20))) requests++;
      if (!isAsked) behave(socket, url);
      isAsked = true;
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/ipn`;
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { url, requests: () => requests, closed: () => closed };
}
