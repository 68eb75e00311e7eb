import { connect, isIPv6, type Socket } from 'node:net';
import * as tls from 'node:tls';
import { onTestFinished } from 'vitest';
import { exchange, readHead } from './raw.ts';

/** Connects to a port on this machine until the end of the test. @param from the loopback address of the client */
export function connected(port: number, from = '127.0.0.1'): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: isIPv6(from) ? from : '127.0.0.1', localAddress: from }, () =>
      resolve(socket),
    );
    socket.on('error', reject);
    onTestFinished(() => void socket.destroy());
  });
}

/** Starts TLS on a connection and trusts only `ca`. It also offers HTTP/2, as browsers and Go do. */
export function secured(socket: Socket, ca: string, servername: string): Promise<tls.TLSSocket> {
  return new Promise((resolve, reject) => {
    const options = { socket, ca, servername, ALPNProtocols: ['h2', 'http/1.1'] };
    const secure = tls.connect(options, () => resolve(secure));
    secure.on('error', reject);
    secure.on('close', () => reject(new Error('the connection was closed before TLS was spoken')));
  });
}

/** Reads from a connection until a text arrives or the connection closes. */
export function textUntil(socket: Socket, end: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = () => {
      socket.off('data', take);
      resolve(text);
    };
    const take = (chunk: Buffer) => {
      text += chunk.toString('latin1');
      if (text.includes(end)) done();
    };
    socket.on('data', take);
    socket.once('close', done);
    socket.on('error', done);
  });
}

/** Asks a proxy for a tunnel. */
export async function tunnel(
  port: number,
  target: string,
): Promise<{ status: number; text: string; socket: Socket }> {
  const socket = await connected(port);
  const answer = textUntil(socket, '\r\n\r\n');
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const text = await answer;
  return { status: readHead(text).status, text, socket };
}

/** Sends a request to a host alias through a tunnel, over TLS. */
export async function inTunnel(port: number, host: string, ca: string, request: string) {
  const { socket } = await tunnel(port, `${host}:443`);
  return exchange(await secured(socket, ca, host), request);
}
