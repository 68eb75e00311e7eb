import * as z from 'zod/mini';
import { field, named, shapeOf, text } from '../../contract/field.ts';
import { DELIVERY_ORDERS, OUTCOMES } from '../../contract/vocabulary.ts';

/** A form of the checkout: fields that it does not know are ignored. */
function form<All extends Parameters<typeof shapeOf>[0]>(name: string, description: string, fields: All) {
  return named({ name, description, fields, io: 'input' }, z.object(shapeOf(fields)));
}

const entered = field(text, 'What the customer entered.');

export const EmailForm = form('EmailForm', 'First step of the checkout.', { email: entered });
export const CodeForm = form('CodeForm', 'Second step of the checkout.', { code: entered });
export const PanelForm = form('PanelForm', 'What the simulator panel posts.', {
  outcome: field(z.enum(OUTCOMES), 'What becomes of the payment.'),
  delivery: field(z.optional(z.enum(DELIVERY_ORDERS)), 'Order of IPN and redirect.'),
});
