import {
  Delivery,
  DeliveryBatch,
  DeliveryList,
  DeliveryQuery,
  FireInput,
  ResendInput,
} from '../../contract/delivery.ts';
import { requireTampering } from '../../contract/tampering.ts';
import type { Delivery as StoredDelivery } from '../../domain/state.ts';
import type { AppParts } from '../environment.ts';
import { listPage } from './list.ts';
import { control } from './route.ts';
import { deliveryView } from './views.ts';

const TAG = 'Control: IPNs';

/** Routes of `/_sim/ipns`. */
export function ipnRoutes({ ipns, payments, state }: AppParts) {
  const view = (delivery: StoredDelivery) => deliveryView(delivery, state.current);
  return [
    control(
      'GET /ipns',
      {
        tag: TAG,
        summary: 'Deliveries with every attempt, newest first',
        query: DeliveryQuery,
        answer: DeliveryList,
        errors: [404],
      },
      ({ query: { payment, limit, cursor, ...wanted } }) => {
        const paymentId = payment === undefined ? undefined : payments.require(payment).id;
        return listPage(state.current.deliveries, { limit, cursor }, { ...wanted, paymentId }, view);
      },
    ),
    control('GET /ipns/:id', { tag: TAG, summary: 'One delivery', answer: Delivery }, ({ params }) =>
      view(ipns.require(params.id)),
    ),
    control(
      'POST /ipns/:id/resend',
      {
        tag: TAG,
        summary: 'Resend a delivery',
        description: 'Answers after the attempt. 403: the egress guard does not let it out.',
        body: ResendInput,
        optionalBody: true,
        answer: Delivery,
      },
      async ({ params, body }) => view(await ipns.resend(params.id, body.to)),
    ),
    control(
      'POST /ipns',
      {
        tag: TAG,
        summary: 'Make an IPN by hand',
        description:
          'Answers after the attempts: the delivery, or a list where `times` made several. 403: the egress guard does not let it out.',
        body: FireInput,
        answer: [Delivery, DeliveryBatch],
        status: 201,
        errors: [404],
      },
      async ({ body: { delay, tamper, ...request } }) => {
        const deliveries = await ipns.fire({
          ...request,
          delayMs: delay,
          tamper: tamper === undefined ? undefined : requireTampering(tamper),
        });
        const data = deliveries.map(view);
        const [only, ...more] = data;
        return only && !more.length ? only : { data, nextCursor: null };
      },
    ),
  ] as const;
}
