import {
  Delivery,
  DeliveryBatch,
  DeliveryList,
  DeliveryQuery,
  FireInput,
  ResendInput,
} from '../../contract/delivery.ts';
import { requireTamperings } from '../../contract/tampering.ts';
import type { Delivery as StoredDelivery } from '../../domain/state.ts';
import type { AppParts } from '../environment.ts';
import { listPage, wholeList } from './list.ts';
import { control } from './route.ts';
import { deliveryView } from './views.ts';

export function ipnRoutes(parts: AppParts) {
  const { ipns, payments } = parts;
  const view = (delivery: StoredDelivery) => deliveryView(delivery, parts);
  return [
    control('GET /ipns', {
      summary: 'Deliveries with every attempt, newest first',
      query: DeliveryQuery,
      answer: DeliveryList,
      errors: [404],
      run: ({ query: { payment, limit, cursor, ...wanted } }) => {
        const paymentId = payment === undefined ? undefined : payments.require(payment).id;
        return listPage(ipns.all, { limit, cursor }, { ...wanted, paymentId }, view);
      },
    }),
    control('GET /ipns/:id', {
      summary: 'One delivery',
      answer: Delivery,
      run: ({ params }) => view(ipns.require(params.id)),
    }),
    control('POST /ipns/:id/resend', {
      summary: 'Resend a delivery',
      description:
        'Responds after the attempt. Resends of one delivery run one after another. 403: the egress guard rejects the address. 504: no attempt in time; it is still due.',
      body: ResendInput,
      optionalBody: true,
      answer: Delivery,
      errors: [504],
      run: async ({ params, body }) => view(await ipns.resend(params.id, body.to)),
    }),
    control('POST /ipns', {
      summary: 'Send an IPN by hand',
      description:
        'Responds after the attempts with the delivery, or with a list if `times` is more than 1. 403: the egress guard rejects the address.',
      body: FireInput,
      answer: [Delivery, DeliveryBatch],
      status: 201,
      errors: [404],
      run: async ({ body: { delay: delayMs, tamper: given, ...request } }) => {
        const tamper = requireTamperings(given);
        const fired = (await ipns.fire({ ...request, delayMs, tamper })).map(view);
        return fired.length === 1 && fired[0] ? fired[0] : wholeList(fired);
      },
    }),
  ];
}
