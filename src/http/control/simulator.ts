import { Readable } from 'node:stream';
import { Hono, type TypedResponse } from 'hono';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../contract/vocabulary.ts';
import { readStateBody } from '../body.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { clockView } from './clock.ts';
import { faultView } from './faults.ts';

/** How many payments there are of each status. */
export function paymentCounts({ gateway }: AppParts): Record<PaymentStatus, number> {
  const counts = Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, 0])) as Record<
    PaymentStatus,
    number
  >;
  for (const { status } of gateway.state.payments.values()) counts[status]++;
  return counts;
}

/** A whole state, as db.json holds it, with a list for each collection. */
export type StateDocument = { version: number };

/** How many records of each kind there are. */
function recordCounts({ gateway: { state } }: AppParts) {
  return {
    payments: state.payments.size,
    deliveries: state.deliveries.size,
    merchants: state.merchants.size,
    wallets: state.wallets.size,
    cards: state.cards.size,
  };
}

/** A secret as it may be shown: enough to tell it from others. */
export function masked(secret: string): string {
  return secret.length > 12 ? `${secret.slice(0, 8)}…${secret.slice(-2)}` : '…';
}

/** The routes of the emulator as a whole: status, state, shutdown. */
export function simulatorRoutes(parts: AppParts) {
  const { facts } = parts;
  return new Hono<AppEnvironment>()
    .get('/status', (c) => {
      const { secretKey, controlToken, ...options } = facts.options;
      return c.json({
        version: facts.version,
        mode: facts.dataDir === null ? ('in-memory' as const) : ('on-disk' as const),
        url: facts.baseUrl(),
        dataDir: facts.dataDir,
        pid: facts.pid,
        startedAt: facts.startedAt,
        clock: clockView(parts.clock.read()),
        faults: parts.faults.list.map(faultView),
        counts: { ...recordCounts(parts), payments: paymentCounts(parts) },
        options: {
          ...options,
          secretKey: secretKey === undefined ? null : masked(secretKey),
          controlToken: controlToken === undefined ? null : masked(controlToken),
        },
      });
    })
    .post('/reset', async (c) => {
      await parts.state.reset();
      return c.json({ counts: recordCounts(parts) });
    })
    .get('/snapshot', (c) => {
      // In slices: a large state must not hold up the payments that come in meanwhile.
      const body = Readable.toWeb(Readable.from(parts.state.snapshotText())) as ReadableStream<Uint8Array>;
      const answer: Response = c.body(body, 200, { 'Content-Type': 'application/json' });
      return answer as Response & TypedResponse<StateDocument, 200, 'json'>;
    })
    .put('/snapshot', async (c) => {
      await parts.state.restore(await readStateBody(c));
      return c.json({ counts: recordCounts(parts) });
    })
    .post('/shutdown', (c) => {
      // The answer is on its way before the server begins to stop.
      setImmediate(() => void facts.stop());
      return c.json({ stopping: true, pid: facts.pid });
    });
}
