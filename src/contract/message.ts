import type * as z from 'zod/mini';
import { IDENTIFIER } from './delivery.ts';
import { field, omit, record, text, time, wholeList } from './field.ts';

const fields = {
  id: field(text, 'Its id.'),
  paymentId: field(text, 'The payment that it confirms.'),
  identifier: IDENTIFIER,
  email: field(text, 'The address it was "sent" to.'),
  code: field(text, 'The verification code.'),
  sentAt: time('Time at which it was "sent".'),
  expiresAt: time('Expiry of the code.'),
};

export const StoredMessage = record('StoredMessage', 'A verification code as stored.', fields);

export const InboxMessage = record(
  'InboxMessage',
  'A verification code that was "sent" to the customer of a live payment.',
  omit(fields, 'id'),
);
export type InboxMessage = z.output<typeof InboxMessage>;

export const MessageList = wholeList('MessageList', InboxMessage, 'verification codes (the newest 100)');
