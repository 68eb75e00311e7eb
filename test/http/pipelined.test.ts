import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { listen, type RequestListener } from '../../src/http/listener.ts';
import { dialect } from '../../src/wire/documented/service.ts';
import { exchange } from '../helpers/raw.ts';
import { startSim } from '../helpers/sim.ts';
import { connected } from '../helpers/tunnel.ts';

const PAGE = 'x'.repeat(2 ** 20);
/** Far more than fits in the system's buffers. */
const COUNT = 80;

/** Starts a server. @returns its port */
async function server(answer: RequestListener) {
  const { port, close } = await listen({ host: '127.0.0.1', port: 0 }, async () => answer, dialect);
  onTestFinished(close);
  return port;
}

const request = (path: string, last = false) =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${last ? 'Connection: close\r\n' : ''}\r\n`;
const requests = (count: number) =>
  Array.from({ length: count }, (_, index) => request(`/${index}`, index === count - 1)).join('');

it('creates the next response on a connection only after the client reads the previous one', async () => {
  const requested: string[] = [];
  const port = await server(({ url = '' }, outgoing) => {
    requested.push(url);
    outgoing.end(PAGE);
  });
  const socket = await connected(port);
  socket.pause();
  socket.write(requests(COUNT));
  // By the time another connection gets its response, all early responses have been created.
  for (let count = 0; count < 5; count++) {
    const answer = await fetch(`http://127.0.0.1:${port}/other`);
    expect(await answer.text()).toBe(PAGE);
  }
  const waiting = requested.filter((url) => url !== '/other');
  // The system's buffers, some megabytes, are full.
  expect(waiting.length).toBeLessThan(40);

  let read = 0;
  socket.on('data', (chunk) => {
    read += chunk.length;
  });
  socket.resume();
  await once(socket, 'close');
  expect(read).toBeGreaterThan(COUNT * PAGE.length);
  expect(requested.filter((url) => url !== '/other')).toEqual(
    Array.from({ length: COUNT }, (_, index) => `/${index}`),
  );
});

it('drops a connection with more than a thousand waiting requests', async () => {
  const port = await server(() => {});
  const socket = await connected(port);
  const closed = once(socket, 'close');
  socket.on('error', () => {});
  socket.resume();
  socket.write(requests(1_100));
  await closed;
});

it('responds in order on all routes, and keeps running after a client disconnects', async () => {
  const sim = await startSim();
  const port = Number(new URL(sim.url).port);
  const gone = await connected(port);
  gone.write(requests(200));
  gone.destroy();
  const paths = ['/_sim/openapi.json', '/_sim/healthz', '/nowhere', '/_sim/ui/inbox', '/_sim/payments'];
  const asked = paths.map((path, index) => request(path, index === paths.length - 1)).join('');
  const { text } = await exchange(await connected(port), asked);
  const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  const alone = await Promise.all(paths.map(async (path) => String((await fetch(sim.url + path)).status)));
  expect(statuses).toEqual(alone);
});
