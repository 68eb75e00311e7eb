import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that a system gives to who asks for any: Linux from 32768 on, others from 49152. */
const [FIRST, LAST] = [15_000, 29_999];

/**
 * A free port that nobody is given by chance: it stays free between two servers of a test, and until a program takes
 * it that cannot take just any.
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
