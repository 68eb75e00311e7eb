import * as z from 'zod/mini';
import type { ErrorCode } from '../../contract/error.ts';
import { FaultRule } from '../../contract/fault.ts';
import { PAYMENT_STATUSES } from '../../contract/vocabulary.ts';
import {
  attemptSchema,
  COLLECTION_SCHEMAS,
  cardSchema,
  cardTransactionSchema,
  deliverySchema,
  merchantSchema,
  messageSchema,
  paymentEventSchema,
  paymentSchema,
  walletSchema,
} from '../../domain/state.ts';
import type { ResolvedOptions } from '../../options.ts';
import { STATUS } from '../errors.ts';

/*
 * What the control API answers, out of the schemas of the stored records. No answer is held against these at run time:
 * the compiler compares them with what the routes return, and the tests with what came over the wire.
 */

const text = z.string();
const count = z.int().check(z.nonnegative());

/** A page of a list. */
function pageOf<Item extends z.ZodMiniType>(item: Item) {
  return z.object({ data: z.array(item), nextCursor: z.nullable(text) });
}

/** A list that always comes whole, in the same shape. */
function wholeListOf<Item extends z.ZodMiniType>(item: Item) {
  return z.object({ data: z.array(item), nextCursor: z.null() });
}

/** The one shape of an error: what stands under /_sim only is added to what the service tells. */
const ServiceError = z.object({ error: z.literal('true'), message: text, errors: z.array(text) });
const ControlError = z.extend(ServiceError, {
  code: z.enum(Object.keys(STATUS) as ErrorCode[]),
  remedy: z.optional(text),
  hint: z.optional(
    z.array(
      z.union([
        text,
        z.object({ command: text, args: z.optional(z.array(text)) }),
        z.object({ option: text, value: z.optional(text) }),
      ]),
    ),
  ),
});

const Attempt = z.omit(attemptSchema, { deliveryId: true });
const Delivery = z.extend(z.omit(deliverySchema, { attemptCount: true, signedWith: true }), {
  attempts: z.array(Attempt),
});

const Payment = z.extend(z.omit(paymentSchema, { history: true, messageId: true }), { checkoutUrl: text });
const TimelineEntry = z.object({
  at: text,
  event: z.enum(['initiated', ...paymentEventSchema.shape.event.options, 'ipn_attempted', 'ipn_due']),
  detail: z.nullable(text),
  warnings: z.array(text),
  deliveryId: z.nullable(text),
  attempt: z.nullable(Attempt),
});
const PaymentWithTimeline = z.extend(Payment, { timeline: z.array(TimelineEntry) });
const Settled = z.object({
  payment: Payment,
  delivery: z.nullable(Delivery),
  redirectUrl: z.nullable(text),
});

const Card = z.extend(cardSchema, { maskedNumber: text });
const CardWithTransactions = z.extend(Card, { transactions: z.array(cardTransactionSchema) });
const CardMovement = z.object({ card: Card, transaction: cardTransactionSchema });

const ListedMerchant = z.extend(merchantSchema, { isDefault: z.boolean() });
const Message = z.omit(messageSchema, { id: true });

const Clock = z.object({
  now: text,
  frozen: z.boolean(),
  aheadMs: z.number(),
  nextDue: z.nullable(text),
});

const Fault = z.object({ ...FaultRule.shape, used: count, spent: z.boolean(), summary: text });
const FaultList = wholeListOf(Fault);
const ClearedFaults = z.extend(FaultList, { cleared: count });

const RecordedRequest = z.object({
  id: count,
  at: text,
  method: text,
  target: text,
  requestHeaders: z.record(text, text),
  requestBody: z.nullable(text),
  status: count,
  responseBody: z.nullable(text),
  durationMs: z.number(),
  paymentId: z.nullable(text),
  notes: z.array(text),
});

const seq = count;
const SimEvent = z.discriminatedUnion('type', [
  z.object({ seq, type: z.literal('request'), request: RecordedRequest }),
  z.object({ seq, type: z.literal('payment'), payment: Payment }),
  z.object({ seq, type: z.literal('delivery'), delivery: Delivery }),
  z.object({ seq, type: z.literal('message'), message: Message }),
  z.object({ seq, type: z.literal('cardTransaction'), cardTransaction: cardTransactionSchema }),
  z.object({ seq, type: z.literal('notice'), at: text, text }),
]);

const RecordCounts = z.object({
  payments: count,
  deliveries: count,
  merchants: count,
  wallets: count,
  cards: count,
});

type ShownOptions = Omit<ResolvedOptions, 'secretKey' | 'controlToken'> & {
  secretKey: string | null;
  controlToken: string | null;
};
/** Its JSON schema comes from the table of options, see `optionsSchema`. */
const Options = z.custom<ShownOptions>();

const Status = z.object({
  version: text,
  mode: z.enum(['in-memory', 'on-disk']),
  url: text,
  dataDir: z.nullable(text),
  pid: count,
  startedAt: text,
  clock: Clock,
  faults: z.array(Fault),
  counts: z.extend(RecordCounts, { payments: z.record(z.enum(PAYMENT_STATUSES), count) }),
  options: Options,
});

const lists = Object.fromEntries(
  Object.entries(COLLECTION_SCHEMAS).map(([name, schema]) => [name, z.array(schema as z.ZodMiniType)]),
) as { [Name in keyof typeof COLLECTION_SCHEMAS]: z.ZodMiniArray<(typeof COLLECTION_SCHEMAS)[Name]> };
const State = z.object({ version: count, ...lists });
const GivenState = z.extend(z.partial(z.object(lists)), { version: count });

/** Every schema of the control API that has a name in the document. */
export const CONTROL_ANSWERS = {
  SimEvent,
  Attempt,
  Card,
  CardList: pageOf(Card),
  CardMovement,
  CardTransaction: cardTransactionSchema,
  CardWithTransactions,
  ClearedFaults,
  Clock,
  ControlError,
  Counted: z.object({ counts: RecordCounts }),
  Delivery,
  DeliveryBatch: wholeListOf(Delivery),
  DeliveryList: pageOf(Delivery),
  Error: ServiceError,
  RecordedRequest,
  RequestList: wholeListOf(RecordedRequest),
  Fault,
  FaultList,
  GivenState,
  ListedMerchant,
  Live: z.object({ status: z.literal('live') }),
  Merchant: merchantSchema,
  MerchantList: wholeListOf(ListedMerchant),
  Message,
  MessageList: wholeListOf(Message),
  Options,
  Payment,
  PaymentList: pageOf(Payment),
  PaymentWithTimeline,
  Ready: z.object({ status: z.literal('ready') }),
  RecordCounts,
  Settled,
  State,
  Status,
  Stopping: z.object({ stopping: z.literal(true), pid: count }),
  StoredAttempt: attemptSchema,
  StoredCard: cardSchema,
  StoredDelivery: deliverySchema,
  StoredMessage: messageSchema,
  StoredPayment: paymentSchema,
  TimelineEntry,
  Wallet: walletSchema,
  WalletList: wholeListOf(walletSchema),
} as const;
