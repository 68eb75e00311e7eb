import { Hono } from 'hono';
import * as z from 'zod/mini';
import { DELIVERY_ORDERS, MODES, OUTCOMES, PAYMENT_STATUSES } from '../../contract/vocabulary.ts';
import { requirePayment } from '../../domain/payment.ts';
import type { Payment } from '../../domain/state.ts';
import { timeline } from '../../domain/timeline.ts';
import { checkoutUrl } from '../../wire/paths.ts';
import type { AppEnvironment, AppParts } from '../environment.ts';
import { jsonInput, queryInput, wholeNumber } from '../input.ts';
import { deliveryView } from './ipns.ts';

/** A payment as the control API shows it: the record without what only the checkout needs, with its checkout URL. */
export type PaymentView = Omit<Payment, 'history' | 'messageId'> & { checkoutUrl: string };

/** The public record of a payment. */
export function paymentView(payment: Payment, baseUrl: string): PaymentView {
  const { history: _history, messageId: _messageId, ...record } = payment;
  return { ...record, checkoutUrl: checkoutUrl(payment, baseUrl) };
}

/** Filters of the list of payments. */
export const PaymentQuery = z.strictObject({
  status: z.optional(z.enum(PAYMENT_STATUSES)),
  identifier: z.optional(z.string()),
  mode: z.optional(z.enum(MODES)),
  limit: z.optional(wholeNumber(1, 1_000)),
  cursor: z.optional(wholeNumber(0, 2 ** 31)),
});

/** How a payment is to be settled. */
export const SettleInput = z.strictObject({
  outcome: z.enum(OUTCOMES),
  delivery: z.optional(z.enum(DELIVERY_ORDERS)),
  awaitDelivery: z.optional(z.boolean()),
});

/** Routes below `/_sim/payments`. */
export function paymentRoutes({ gateway, payments, facts }: AppParts) {
  const view = (payment: Payment) => paymentView(payment, facts.baseUrl());
  return new Hono<AppEnvironment>()
    .get('/', queryInput(PaymentQuery), (c) => {
      const { status, identifier, mode, limit = 50, cursor } = c.req.valid('query');
      const page = gateway.state.payments.page(
        limit,
        cursor === undefined ? undefined : String(cursor),
        (payment) =>
          (status === undefined || payment.status === status) &&
          (identifier === undefined || payment.identifier === identifier) &&
          (mode === undefined || payment.mode === mode),
      );
      return c.json({ data: page.data.map(view), nextCursor: page.nextCursor });
    })
    .get('/:ref', (c) => {
      const payment = requirePayment(gateway.state, c.req.param('ref'));
      return c.json({ ...view(payment), timeline: timeline(payment, gateway.state) });
    })
    .post('/:ref/settle', jsonInput(SettleInput), async (c) => {
      const input = c.req.valid('json');
      const settled = await payments.settle(c.req.param('ref'), { ...input, by: 'control' });
      return c.json({
        payment: view(settled.payment),
        delivery: settled.delivery && deliveryView(settled.delivery, gateway.state),
        redirectUrl: settled.redirectUrl,
      });
    });
}
