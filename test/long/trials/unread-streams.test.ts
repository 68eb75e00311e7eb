import type { Socket } from 'node:net';
import { ORDER } from '../../helpers/sim.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { EventReader, unreadStream } from '../event-reader.ts';
import { formRequest, Pipeline } from '../pipeline.ts';
import { trial } from '../trial.ts';

const PER_ROUND = 5;
/**
 * More events than may wait for a client before it is disconnected. A payment creates two: one for its request and one
 * for itself.
 */
const PAYMENTS_PER_ROUND = 600;
/** A round creates 10 MB of events, and the system buffers up to 36 MB per connection. */
const ROUNDS_UNREAD = 6;
/** The maximum memory that one waiting client may use. */
const PER_STREAM_MIB = 5;
const ALONE_MIB = 250;
/** The emulator gives a disconnected client 10 s to read the sent data. */
const CUT_MS = 60_000;

/** Initiates payments with a field so long that each event is large. */
async function makeEvents({ port, publicKey }: Emulator, count: number): Promise<number> {
  const pipeline = new Pipeline(port);
  const order = { ...ORDER, public_key: publicKey, more: 'y'.repeat(15_000) };
  const request = formRequest('/sandbox/payment/initiate', order);
  let answered = 0;
  for (let sent = 0; sent < count; sent += 50) {
    const { answers } = await pipeline.send(Array.from({ length: 50 }, () => request));
    answered += answers.filter(({ status, body }) => status === 200 && body.includes('"ok"')).length;
  }
  pipeline.close();
  return answered;
}

/** Reads to the end. @returns whether the connection is closed in time */
async function isClosed(socket: Socket): Promise<boolean> {
  if (socket.closed) return true;
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, CUT_MS, false);
    // The connection may also be reset, because its data can no longer be delivered.
    socket.resume().on('close', () => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}

trial('event streams without a reader', { short: 5, least: 60, share: 2 }, async (budget) => {
  const sim = await startEmulator();
  const newest = async () => {
    const response = await fetch(`${sim.url}/_sim/events?since=0&follow=false`);
    return Math.max(0, ...[...(await response.text()).matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)));
  };
  const reader = new EventReader(sim.url, await newest());
  const unread: ReturnType<typeof unreadStream>[][] = [];
  let most = 0;
  while (budget.more()) {
    unread.push(Array.from({ length: PER_ROUND }, () => unreadStream(sim.port)));
    const answered = await makeEvents(sim, PAYMENTS_PER_ROUND);
    budget.cases(PER_ROUND);
    budget.requests(PAYMENTS_PER_ROUND + PER_ROUND);
    if (answered < PAYMENTS_PER_ROUND) budget.fail('lost', `${answered} of ${PAYMENTS_PER_ROUND} initiates`);
    const last = await newest();
    if (!(await reader.reached(last)))
      budget.fail('lost', `event ${reader.newest} of ${last} is the last read`);
    most = Math.max(most, await sim.memory());
    const dropped = unread.length > ROUNDS_UNREAD ? (unread.shift() ?? []) : [];
    for (const socket of dropped)
      if (!(await isClosed(socket))) budget.fail('hang', 'an unread stream is still open');
    // This trial does not check the payments themselves.
    await sim.control('/reset', {});
    await sim.check(budget, 'unread streams');
  }
  for (const mistake of reader.mistakes.slice(0, 5)) budget.fail('lost', mistake);
  const bound = ALONE_MIB + (ROUNDS_UNREAD + 1) * PER_ROUND * PER_STREAM_MIB;
  budget.note(`at most ${most.toFixed(0)} MiB, of ${bound}`);
  if (most > bound) budget.fail('other', `${most.toFixed(0)} MiB`);
});
