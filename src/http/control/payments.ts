import {
  PaymentList,
  PaymentQuery,
  PaymentWithTimeline,
  Settled,
  SettleInput,
} from '../../contract/payment.ts';
import { requirePayment } from '../../domain/payment.ts';
import { timeline } from '../../domain/timeline.ts';
import type { AppParts } from '../environment.ts';
import { listPage } from './list.ts';
import { control } from './route.ts';
import { paymentView, settledView } from './views.ts';

const TAG = 'Control: payments';
const REFERENCE = {
  params: { ref: 'Payment id, or an identifier of the merchant, percent-encoded.' },
  description:
    'The reference is an id or an identifier: the newest pending payment with it, else the newest.',
};

/** Routes of `/_sim/payments`. */
export function paymentRoutes(parts: AppParts) {
  const { gateway, facts } = parts;
  return [
    control(
      'GET /payments',
      { tag: TAG, summary: 'Payments, newest first', query: PaymentQuery, answer: PaymentList },
      ({ query: { limit, cursor, ...wanted } }) =>
        listPage(gateway.state.payments, { limit, cursor }, wanted, (one) =>
          paymentView(one, facts.baseUrl()),
        ),
    ),
    control(
      'GET /payments/:ref',
      { tag: TAG, summary: 'A payment with its timeline', ...REFERENCE, answer: PaymentWithTimeline },
      ({ params }) => {
        const payment = requirePayment(gateway.state, params.ref);
        return { ...paymentView(payment, facts.baseUrl()), timeline: timeline(payment, gateway.state) };
      },
    ),
    control(
      'POST /payments/:ref/settle',
      {
        tag: TAG,
        summary: 'Settle a pending payment',
        ...REFERENCE,
        body: SettleInput,
        answer: Settled,
        errors: [409],
      },
      async ({ params, body }) =>
        settledView(await gateway.settle(params.ref, { ...body, by: 'control' }), parts),
    ),
  ] as const;
}
