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
      summary: 'Back to the fixtures that it started with',
      description: 'Merchants keep their keys; what is due is dropped.',
      answer: Counted,
      run: async () => {
        await state.reset();
        return { counts: recordCounts(parts) };
      },
    }),
    control('GET /snapshot', {
      summary: 'The whole state',
      answer: State,
      run: ({ c }) => {
        // In slices: a large state must not hold up the payments that come in meanwhile.
        const body = Readable.toWeb(Readable.from(state.snapshotText())) as ReadableStream<Uint8Array>;
        return c.body(body, 200, { 'Content-Type': 'application/json' });
      },
    }),
    control('PUT /snapshot', {
      summary: 'Put a whole state in the place of this one',
      description: 'All or nothing, at most 64 MiB.',
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

export function recordCounts({ state: { current } }: AppParts): RecordCounts {
  return {
    payments: current.payments.size,
    deliveries: current.deliveries.size,
    merchants: current.merchants.size,
    wallets: current.wallets.size,
    cards: current.cards.size,
  };
}

export function paymentCounts({ state }: AppParts): Record<PaymentStatus, number> {
  const counts = Object.fromEntries(PAYMENT_STATUSES.map((status) => [status, 0])) as Record<
    PaymentStatus,
    number
  >;
  for (const { status } of state.current.payments.values()) counts[status]++;
  return counts;
}
