import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ephemeral ports: Linux has those from 32768 on, other systems from 49152. */
const [FIRST, LAST] = [15_000, 29_999];

/**
 * A free port that the system does not assign automatically, so it stays free until a program uses it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1));
    const server = createServer();
    const isFree = once(server, 'listening').then(
      () => true,
      () => false,
    );
    server.listen(port, '127.0.0.1');
    if (!(await isFree)) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
