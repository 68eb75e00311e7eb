import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { ORDER, type Sim, startSim } from '../../helpers/sim.ts';

/** A client that requests events and reads nothing until `read` is called. */
async function listener(sim: Sim, query = ''): Promise<Socket> {
  const socket = connect({ port: Number(new URL(sim.url).port), host: '127.0.0.1' });
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(`GET /_sim/events${query} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
  const [first] = await once(socket, 'data');
  expect(String(first)).toContain('200 OK');
  socket.pause();
  return socket;
}

/** Creates more events than fit in the buffers between the server and a client. */
function manyEvents(sim: Sim, count = 3_000): void {
  const text = 'x'.repeat(10_000);
  for (let number = 0; number < count; number++) sim.server.parts.events.notice(text);
}

it('a client that does not read is dropped, and can resume where it stopped', async () => {
  const sim = await startSim();
  const socket = await listener(sim);
  for (let round = 0; round < 10; round++) {
    manyEvents(sim, 100);
    await new Promise((resolve) => setImmediate(resolve));
  }
  const before = sim.server.parts.events.newest;
  manyEvents(sim);
  const closed = once(socket, 'close');
  let text = '';
  socket
    .on('error', () => {})
    .on('data', (chunk) => {
      text += chunk;
    });
  socket.resume();
  await closed;
  const last = Number([...text.matchAll(/^id: (\d+)$/gm)].at(-1)?.[1]);
  expect(last).toBeGreaterThan(0);
  expect(last).toBeLessThanOrEqual(before + 3_000);
  const resumed = await fetch(`${sim.url}/_sim/events?follow=false`, {
    headers: { 'Last-Event-ID': String(sim.server.parts.events.newest - 2) },
  });
  const ids = [...(await resumed.text()).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual([before + 2_999, before + 3_000]);
});

it('past events are sent first, then new ones, in order', async () => {
  const sim = await startSim();
  await sim.initiate({ ...ORDER });
  const response = await fetch(`${sim.url}/_sim/events?since=0`);
  sim.server.parts.events.notice('later');
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  while (!text.includes('later')) text += (await reader?.read())?.value ?? '';
  await reader?.cancel();
  const ids = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids).toEqual(ids.map((_, index) => index + 1));
  expect(ids.length).toBeGreaterThan(2);
});
