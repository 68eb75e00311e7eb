import {
  PaymentList,
  PaymentQuery,
  PaymentWithTimeline,
  Settled,
  SettleInput,
} from '../../contract/payment.ts';
import type { Payment } from '../../domain/state.ts';
import type { AppParts } from '../environment.ts';
import { listPage } from './list.ts';
import { control } from './route.ts';
import { paymentView, settledView } from './views.ts';

const REFERENCE = {
  params: { ref: 'Payment id or the merchant’s identifier, percent-encoded.' },
  description:
    'For an identifier: the newest pending payment with it, or the newest payment if none is pending.',
};

export function paymentRoutes(parts: AppParts) {
  const { payments } = parts;
  const view = (payment: Payment) => paymentView(payment, parts);
  return [
    control('GET /payments', {
      summary: 'Payments, newest first',
      query: PaymentQuery,
      answer: PaymentList,
      run: ({ query: { limit, cursor, ...wanted } }) =>
        listPage(payments.all, { limit, cursor }, wanted, view),
    }),
    control('GET /payments/:ref', {
      summary: 'A payment with its timeline',
      ...REFERENCE,
      answer: PaymentWithTimeline,
      run: ({ params }) => {
        const payment = payments.require(params.ref);
        return { ...view(payment), timeline: payments.timeline(payment) };
      },
    }),
    control('POST /payments/:ref/settle', {
      summary: 'Settle a pending payment',
      ...REFERENCE,
      body: SettleInput,
      answer: Settled,
      errors: [409],
      run: async ({ params, body: { by = 'control', ...how } }) =>
        settledView(await payments.settle(params.ref, { ...how, by }), parts),
    }),
  ];
}
