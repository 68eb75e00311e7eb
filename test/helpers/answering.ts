import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo, Server, Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

/** Lets a server listen on a free port until the end of the test. @returns the port */
export async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** Starts a server with this request handler until the end of the test. @returns its URL */
export async function startAnswering(answer: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listen(createServer(answer))}`;
}

/** Responses that begin normally but cannot be used. */
export const BROKEN = {
  hangs: (response: ServerResponse) => void response.write('{'),
  resets: (response: ServerResponse) => void response.write('{', () => response.socket?.resetAndDestroy()),
  encodes: (response: ServerResponse) =>
    void response.setHeader('Content-Encoding', 'gzip').end(gzipSync('{"status":"paid"}')),
  encodesBadly: (response: ServerResponse) => void response.setHeader('Content-Encoding', 'gzip').end('{}'),
  endless(response: ServerResponse): void {
    const chunk = Buffer.alloc(64 * 1024, ' ');
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    };
    response.on('drain', write);
    write();
  },
} as const;
