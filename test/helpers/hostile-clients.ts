import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const post = (...lines: string[]) => `POST /ipn HTTP/1.1\r\nHost: localhost\r\n${lines.join('\r\n')}`;
const form = (body: string, length: number | string = Buffer.byteLength(body)) =>
  post('Content-Type: application/x-www-form-urlencoded', `Content-Length: ${length}`, '', body);

/** Clients send these and then disconnect, once normally and once with a reset. */
const BROKEN: Readonly<Record<string, string>> = {
  'three bytes of a hundred': form('a=b', 100),
  'half of the headers': post('Content-Le'),
  'an incomplete chunk': post('Transfer-Encoding: chunked', '', '5\r\nab'),
  'a chunk without a size': post('Transfer-Encoding: chunked', '', 'zz\r\n\r\n'),
  'an invalid length': form('a=b', 'abc'),
  'a negative length': form('a=b', -1),
  'two lengths': post('Content-Length: 3', 'Content-Length: 5', '', 'a=b'),
  'no length': post('', 'a=b'),
  'bytes that are not HTTP': '\x16\x03\x01\x02\x00\x01\x00',
  'an invalid path': 'POST http://[ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n',
  'bytes that are not text': form('%ff%fe=%c3%28&identifier=%00&data[amount]=%zz'),
  'lists instead of texts': form('identifier[]=1&signature[]=2&status[]=success&data=3&data[amount][]=4'),
  'ten thousand fields': form('a=b&'.repeat(10_000)),
  'endless names': form('a['.repeat(5_000)),
  JSON: post('Content-Type: application/json', 'Content-Length: 4', '', 'null'),
  'a broken multipart body': post(
    'Content-Type: multipart/form-data; boundary=x',
    'Content-Length: 5',
    '',
    '--x\r\n',
  ),
  GET: 'GET /ipn HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n',
};
/** Clients send these and stay connected until the end of the test. */
const HELD = [form('status=succ', 400), post('Content-Le'), ''];
const HUGE = 20 * 2 ** 20;

/** Sends requests that a receiver must survive: aborted, huge and incomplete ones. */
export async function bother(url: string): Promise<void> {
  const { port, hostname } = new URL(url);
  const open = () => connect({ port: Number(port), host: hostname }).on('error', () => {});
  for (const text of HELD) {
    const socket = open();
    socket.write(text);
    onTestFinished(() => void socket.destroy());
  }
  const sockets: Socket[] = [];
  const sent = Object.values(BROKEN).flatMap((text) =>
    [false, true].map(
      (resets) =>
        new Promise<void>((resolve) => {
          const socket = open().on('close', () => resolve());
          sockets.push(socket);
          socket.resume();
          socket.write(text, 'latin1', () => {
            if (resets) socket.resetAndDestroy();
            else socket.end();
            resolve();
          });
        }),
    ),
  );
  await Promise.all(sent);
  // The result does not matter. When this request ends, the earlier ones have been read.
  const signal = AbortSignal.timeout(5_000);
  await fetch(url, { method: 'POST', body: Buffer.alloc(HUGE, 'a'), signal }).catch(() => undefined);
  for (const socket of sockets) socket.destroy();
}
