import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { listen } from './answering.ts';
import type { PairFiles } from './certificates.ts';

/** A request over HTTPS: its Host header, TLS server name and path. */
interface SecureRequest {
  host: string;
  servername: string | false | null;
  url: string;
}

/** Starts a merchant's receiver with HTTPS until the end of the test. */
export async function startSecureReceiver({ cert, key }: PairFiles, host = '127.0.0.1') {
  const requests: SecureRequest[] = [];
  const server = createServer({ cert: readFileSync(cert), key: readFileSync(key) }, (incoming, outgoing) => {
    const { servername } = incoming.socket as TLSSocket;
    requests.push({ host: incoming.headers.host ?? '', servername, url: incoming.url ?? '' });
    outgoing.end('OK');
  });
  return { port: await listen(server, host), requests };
}
