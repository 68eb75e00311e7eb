import { Hono } from 'hono';
import * as z from 'zod/mini';
import { GatewayError } from '../../domain/error.ts';
import { requirePayment } from '../../domain/payment.ts';
import { type Attempt, DELIVERY_STATES, type Delivery, type State } from '../../domain/state.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { queryInput, wholeNumber } from '../input.ts';

/** A delivery as the control API shows it: the record with every attempt in it. */
export type DeliveryView = Omit<Delivery, 'attemptCount' | 'signedWith'> & {
  attempts: Omit<Attempt, 'deliveryId'>[];
};

/** The public record of a delivery. */
export function deliveryView(delivery: Delivery, state: State): DeliveryView {
  const { attemptCount: _count, signedWith: _key, ...record } = delivery;
  const attempts = state.attemptsOf(delivery.id).map(({ deliveryId: _id, ...attempt }) => attempt);
  return { ...record, attempts };
}

/** Filters of the list of deliveries; `payment` is an id or an identifier. */
export const DeliveryQuery = z.strictObject({
  payment: z.optional(z.string()),
  state: z.optional(z.enum(DELIVERY_STATES)),
  limit: z.optional(wholeNumber(1, 1_000)),
  cursor: z.optional(wholeNumber(0, 2 ** 31)),
});

/** Routes below `/_sim/ipns`. */
export function ipnRoutes({ gateway }: AppParts) {
  return new Hono<AppEnvironment>()
    .get('/', queryInput(DeliveryQuery), (c) => {
      const { payment, state, limit = 50, cursor } = c.req.valid('query');
      const paymentId = payment === undefined ? undefined : requirePayment(gateway.state, payment).id;
      const page = gateway.state.deliveries.page(
        limit,
        cursor === undefined ? undefined : String(cursor),
        (delivery) =>
          (paymentId === undefined || delivery.paymentId === paymentId) &&
          (state === undefined || delivery.state === state),
      );
      return c.json({
        data: page.data.map((delivery) => deliveryView(delivery, gateway.state)),
        nextCursor: page.nextCursor,
      });
    })
    .get('/:id', (c) =>
      c.json(deliveryView(requireDelivery(gateway.state, c.req.param('id')), gateway.state)),
    );
}

function requireDelivery(state: State, id: string): Delivery {
  const delivery = state.deliveries.get(id);
  if (delivery) return delivery;
  throw new GatewayError('not_found', `no IPN delivery has the id "${id}"`, {
    remedy: 'GET /_sim/ipns lists what there is.',
  });
}
