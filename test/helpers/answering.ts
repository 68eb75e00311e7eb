import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { onTestFinished } from 'vitest';

/** Starts a server that answers with this function and is closed at the end of the test. @returns its address */
export async function startAnswering(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Responses that begin normally. */
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
