import { connect, type Socket } from 'node:net';
import { type Broken, brokenRequest, SMUGGLED } from '../broken-http.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import type { Below } from '../hostile-values.ts';
import { type Budget, trial } from '../trial.ts';

const AT_ONCE = 32;
/** A request may take 30 s to arrive, and the server checks every 30 s. */
const SLOWEST_MS = 75_000;
/** After this long without a byte, the client closes its side. */
const QUIET_MS = 300;

/** Sends the bytes. @returns the response, or undefined if the connection was never closed */
function exchanged(port: number, { bytes, ends }: Broken, below: Below): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    const all = Buffer.from(bytes, 'latin1');
    const at = below(3) === 0 ? below(all.length) : all.length;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true, noDelay: true }, () => {
      socket.write(all.subarray(0, at), () => {
        if (at < all.length) socket.write(all.subarray(at));
        if (ends) socket.end();
      });
    });
    const finish = (seen: string | undefined) => {
      clearTimeout(timer);
      clearTimeout(quiet);
      // Otherwise, the port would stay in TIME_WAIT for a minute.
      socket.resetAndDestroy();
      resolve(seen);
    };
    const timer = setTimeout(() => finish(undefined), SLOWEST_MS);
    // The server may keep the connection alive, or wait for more bytes.
    const quiet = setTimeout(() => socket.end(), QUIET_MS);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      quiet.refresh();
    });
    socket.on('error', () => finish(text)).on('end', () => finish(text));
  });
}

function judge(
  budget: Budget,
  { what, bytes, isTolerable }: Broken,
  seen: string | undefined,
  { secretKey }: Emulator,
): void {
  const shown = `${what}: ${JSON.stringify(bytes.slice(0, 300))}`;
  if (seen === undefined) {
    budget.fail('hang', shown);
    return;
  }
  const statuses = [...seen.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
  if (statuses.some((status) => status >= 500)) budget.fail('5xx', `${statuses} to ${shown}`);
  const isTaken = statuses.some((status) => status < 400);
  if (isTaken && !isTolerable) budget.fail('other', `${statuses} to ${shown}`);
  if (seen.includes(secretKey)) budget.fail('outside', shown);
}

/** Opens connections with unfinished requests. The emulator must close all of them. */
function slowOnes(port: number, count: number): { socket: Socket; closed: Promise<string> }[] {
  const beginnings = [
    '',
    'G',
    'GET / HTTP/1.1\r\n',
    'POST /payment/initiate HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\na',
  ];
  return Array.from({ length: count }, (_, number) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.write(beginnings[number % beginnings.length] ?? '');
    let text = '';
    const closed = new Promise<string>((resolve) => {
      socket.on('data', (chunk) => {
        text += chunk;
      });
      socket.on('error', () => {}).on('close', () => resolve(text));
    });
    return { socket, closed };
  });
}

trial('malformed HTTP, byte by byte', { short: 300, least: 20_000, share: 6 }, async (budget) => {
  const sim = await startEmulator();
  const slow = slowOnes(sim.port, budget.short ? 20 : 200);
  while (budget.more()) {
    const broken = Array.from({ length: AT_ONCE }, () => brokenRequest(budget.below));
    const answers = broken.map(async (one) => {
      judge(budget, one, await exchanged(sim.port, one, budget.below), sim);
      budget.cases();
      budget.requests();
    });
    await Promise.all(answers);
    await sim.check(budget, 'broken HTTP');
  }
  const { data } = await sim.control<{ data: { target: string }[] }>(`/requests?path=${SMUGGLED}`);
  if (data.length) budget.fail('outside', `${data.length} requests were smuggled`);
  if (budget.part === 1 && !budget.signal.aborted) {
    const late = setTimeout(
      () => budget.fail('hang', 'a request that never ends keeps its connection'),
      SLOWEST_MS,
    );
    await Promise.all(slow.map(({ closed }) => closed));
    clearTimeout(late);
  }
  for (const { socket } of slow) socket.destroy();
});
