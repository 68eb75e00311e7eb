import { Hono } from 'hono';
import * as z from 'zod/mini';
import { DELIVERY_STATES, IPN_FORMATS } from '../../contract/vocabulary.ts';
import { requirePayment } from '../../domain/payment.ts';
import { requireDelivery } from '../../domain/resend.ts';
import type { Attempt, Delivery, State } from '../../domain/state.ts';
import { requireTampering } from '../../wire/compose.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { durationText, jsonInput, optionalJsonInput, queryInput, wholeNumber } from '../input.ts';

/** A delivery as the control API shows it: the record with every attempt in it. */
export type DeliveryView = Omit<Delivery, 'attemptCount' | 'signedWith'> & {
  attempts: Omit<Attempt, 'deliveryId'>[];
};

/** The public record of a delivery. */
export function deliveryView(delivery: Delivery, state: State): DeliveryView {
  const { attemptCount, signedWith: _key, ...record } = delivery;
  // A record out of the log is shown with the attempts of its moment.
  const attempts = state
    .attemptsOf(delivery.id)
    .slice(0, attemptCount)
    .map(({ deliveryId: _id, ...attempt }) => attempt);
  return { ...record, attempts };
}

/** Filters of the list of deliveries; `payment` is an id or an identifier. */
export const DeliveryQuery = z.strictObject({
  payment: z.optional(z.string()),
  state: z.optional(z.enum(DELIVERY_STATES)),
  limit: z.optional(wholeNumber(1, 1_000)),
  cursor: z.optional(wholeNumber(0, 2 ** 31)),
});

/** Where a delivery is sent once more; default: where it was sent before. */
export const ResendInput = z.strictObject({ to: z.optional(z.string()) });

/** An IPN made by hand. `payment` is an id or an identifier; without it the IPN tells of a payment that never was. */
export const FireInput = z.strictObject({
  payment: z.optional(z.string()),
  to: z.optional(z.string()),
  identifier: z.optional(z.string()),
  amount: z.optional(z.string()),
  currency: z.optional(z.string()),
  status: z.optional(z.string()),
  format: z.optional(z.enum(IPN_FORMATS)),
  set: z.optional(z.record(z.string(), z.string())),
  tamper: z.optional(z.string()),
  times: z.optional(wholeNumber(1, 1_000)),
  delay: z.optional(durationText(24 * 3_600_000)),
});

/** Routes below `/_sim/ipns`. */
export function ipnRoutes({ gateway, ipns }: AppParts) {
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
    )
    .post('/:id/resend', optionalJsonInput(ResendInput), async (c) => {
      const delivery = await ipns.resend(c.req.param('id'), c.req.valid('json').to);
      return c.json(deliveryView(delivery, gateway.state));
    })
    .post('/', jsonInput(FireInput), async (c) => {
      const { delay, tamper, ...request } = c.req.valid('json');
      const deliveries = await ipns.fire({
        ...request,
        delayMs: delay,
        tamper: tamper === undefined ? undefined : requireTampering(tamper),
      });
      const data = deliveries.map((delivery) => deliveryView(delivery, gateway.state));
      const [first] = data;
      if (first && data.length === 1) return c.json(first, 201);
      return c.json({ data, nextCursor: null }, 201);
    });
}
