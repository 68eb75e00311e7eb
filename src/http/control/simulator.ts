import { Hono } from 'hono';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../domain/state.ts';
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

/** A secret as it may be shown: enough to tell it from others. */
export function masked(secret: string): string {
  return secret.length > 12 ? `${secret.slice(0, 8)}…${secret.slice(-2)}` : '…';
}

/** `/_sim/status` and `/_sim/shutdown`. */
export function simulatorRoutes(parts: AppParts) {
  const { gateway, facts } = parts;
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
        counts: {
          payments: paymentCounts(parts),
          deliveries: gateway.state.deliveries.size,
          merchants: gateway.state.merchants.size,
          wallets: gateway.state.wallets.size,
          cards: gateway.state.cards.size,
        },
        options: {
          ...options,
          secretKey: secretKey === undefined ? null : masked(secretKey),
          controlToken: controlToken === undefined ? null : masked(controlToken),
        },
      });
    })
    .post('/shutdown', (c) => {
      // The answer is on its way before the server begins to stop.
      setImmediate(() => void facts.stop());
      return c.json({ stopping: true, pid: facts.pid });
    });
}
