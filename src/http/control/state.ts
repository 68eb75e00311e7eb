import { Readable } from 'node:stream';
import { Counted, GivenState, type RecordCounts, State } from '../../contract/state.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../contract/vocabulary.ts';
import { readStateText } from '../body.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';

export function stateRoutes(parts: AppParts) {
  const { state } = parts;
  return [
    control('POST /reset', {
      summary: 'Reset to the initial fixtures',
      description: 'Merchants keep their keys. Scheduled events are dropped.',
      answer: Counted,
      run: async () => {
        await state.reset();
        return { counts: recordCounts(parts) };
      },
    }),
    control('GET /snapshot', {
      summary: 'Export the whole state',
      answer: State,
      run: ({ c }) => {
        // In slices, so that a large state does not delay payments.
        const body = Readable.toWeb(Readable.from(state.snapshotText())) as ReadableStream<Uint8Array>;
        return c.body(body, 200, { 'Content-Type': 'application/json' });
      },
    }),
    control('PUT /snapshot', {
      summary: 'Replace the whole state',
      description: 'All or nothing. Maximum 64 MiB.',
      body: GivenState,
      readsBody: true,
      answer: Counted,
      run: async ({ c }) => {
        await state.restore(await readStateText(c));
        return { counts: recordCounts(parts) };
      },
    }),
  ];
}

export function recordCounts({ payments, ipns, merchants, wallets, cards }: AppParts): RecordCounts {
  return {
    payments: payments.all.size,
    deliveries: ipns.all.size,
    merchants: merchants.all.size,
    wallets: wallets.all.size,
    cards: cards.all.size,
  };
}

export function paymentCounts({ payments }: AppParts): Record<PaymentStatus, number> {
  const counts = Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, 0])) as Record<
    PaymentStatus,
    number
  >;
  for (const { status } of payments.all.values()) counts[status]++;
  return counts;
}
