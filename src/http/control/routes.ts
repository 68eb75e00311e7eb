import { Readable } from 'node:stream';
import * as z from 'zod/mini';
import {
  CardList,
  CardMovement,
  CardQuery,
  CardTransactionInput,
  CardWithTransactions,
} from '../../contract/card.ts';
import { Clock, ClockInput } from '../../contract/clock.ts';
import {
  Delivery,
  DeliveryBatch,
  DeliveryList,
  DeliveryQuery,
  FireInput,
  ResendInput,
} from '../../contract/delivery.ts';
import { DiagnoseInput, Diagnosis } from '../../contract/diagnosis.ts';
import { Status, Stopping } from '../../contract/emulator.ts';
import { EventQuery, type RecordedRequest, RequestList, RequestQuery } from '../../contract/event.ts';
import { ClearedFaults, ClearQuery, Fault, FaultList, FaultRule, FaultRules } from '../../contract/fault.ts';
import { JSON_TYPE } from '../../contract/media-types.ts';
import { Merchant, MerchantInput, MerchantList } from '../../contract/merchant.ts';
import { MessageList } from '../../contract/message.ts';
import {
  PaymentList,
  PaymentQuery,
  PaymentWithTimeline,
  Settled,
  SettleInput,
} from '../../contract/payment.ts';
import { masked } from '../../contract/secrets.ts';
import { Counted, GivenState, type RecordCounts, State } from '../../contract/state.ts';
import { requireTamperings } from '../../contract/tampering.ts';
import { timestamp } from '../../contract/time.ts';
import type { PaymentStatus } from '../../contract/vocabulary.ts';
import { FundInput, Wallet, WalletList } from '../../contract/wallet.ts';
import type * as stored from '../../domain/state.ts';
import { fidelityIn } from '../../system/fidelity.ts';
import { VERSION } from '../../system/package-info.ts';
import { readStateText } from '../body.ts';
import type { AppContext, AppDependencies } from '../environment.ts';
import { eventStream } from './event-stream.ts';
import { type ApiOf, control } from './route.ts';
import {
  cardView,
  clockView,
  deliveryView,
  faultView,
  inboxMessage,
  listPage,
  maskedRequest,
  paymentView,
  settledView,
  wholeList,
} from './views.ts';

type Groups = ReturnType<typeof controlRoutes>;
export type ControlApi = ApiOf<Groups[keyof Groups][number]>;

const REFERENCE = {
  params: { ref: 'Payment id or the merchant’s identifier, percent-encoded.' },
  description:
    'For an identifier: the newest pending payment with it, or the newest payment if none is pending.',
};

/** The guarded JSON routes below `/_sim`, by group. */
export function controlRoutes(parts: AppDependencies, document: () => Promise<object>) {
  const { store, payments, ipns, cards, merchants, wallets, faults, clock, events, state, runtime } = parts;
  const viewPayment = (payment: stored.Payment) => paymentView(payment, parts);
  const viewDelivery = (delivery: stored.Delivery) => deliveryView(delivery, parts);
  const faultList = () => wholeList(faults.list.map(faultView));
  return {
    'Control: payments': [
      control('GET /payments', {
        summary: 'Payments, newest first',
        query: PaymentQuery,
        answer: PaymentList,
        run: ({ query: { audits = true, ...query } }) =>
          listPage(
            store.state.payments,
            query,
            viewPayment,
            ({ settledBy }) => audits || settledBy !== 'audit',
          ),
      }),
      control('GET /payments/:ref', {
        summary: 'A payment with its timeline',
        ...REFERENCE,
        answer: PaymentWithTimeline,
        run: ({ params }) => {
          const payment = payments.require(params.ref);
          return { ...viewPayment(payment), timeline: payments.timeline(payment) };
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
    ],

    'Control: IPNs': [
      control('GET /ipns', {
        summary: 'Deliveries with every attempt, newest first',
        query: DeliveryQuery,
        answer: DeliveryList,
        errors: [404],
        run: ({ query: { payment, audits = true, ...query } }) => {
          const paymentId = payment === undefined ? undefined : payments.require(payment).id;
          const selects = ({ paymentId: id }: stored.Delivery) =>
            audits || store.state.payments.get(id ?? '')?.settledBy !== 'audit';
          return listPage(store.state.deliveries, { ...query, paymentId }, viewDelivery, selects);
        },
      }),
      control('GET /ipns/:id', {
        summary: 'One delivery',
        answer: Delivery,
        run: ({ params }) => viewDelivery(ipns.require(params.id)),
      }),
      control('POST /ipns/:id/resend', {
        summary: 'Resend a delivery',
        description:
          'Responds after the attempt. Resends of one delivery run one after another. 403: the egress guard rejects the address. 504: no attempt in time; it is still due.',
        body: ResendInput,
        optionalBody: true,
        answer: Delivery,
        errors: [504],
        run: async ({ params, body }) => viewDelivery(await ipns.resend(params.id, body.to)),
      }),
      control('POST /ipns/:id/diagnose', {
        summary: 'Find out why a receiver does not accept an IPN',
        description:
          'Sends at most 60 variants of the IPN, one after another, and the genuine one last. Closing the connection ends it. This sends invalid signatures too. If your shop cancels orders on those, reset it afterwards. Also takes the id or identifier of a payment: its newest genuine IPN. 409: no order can be paid by this IPN.',
        body: DiagnoseInput,
        optionalBody: true,
        answer: Diagnosis,
        errors: [409],
        run: ({ c, params, body }) =>
          ipns.diagnose(params.id, body, AbortSignal.any([runtime.stopped, untilClosed(c)])),
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
          const fired = (await ipns.fire({ ...request, delayMs, tamper })).map(viewDelivery);
          return fired.length === 1 && fired[0] ? fired[0] : wholeList(fired);
        },
      }),
    ],

    'Control: cards': [
      control('GET /cards', {
        summary: 'Cards of all merchants, newest first',
        query: CardQuery,
        answer: CardList,
        run: ({ query: { merchant: merchantId, ...query } }) =>
          listPage(store.state.cards, { ...query, merchantId }, cardView),
      }),
      control('GET /cards/:id', {
        summary: 'A card with its transactions',
        answer: CardWithTransactions,
        run: ({ params }) => {
          const card = cards.require(params.id);
          return { ...cardView(card), transactions: store.state.transactionsOf(card.id) };
        },
      }),
      control('POST /cards/:id/transactions', {
        summary: 'Charge or fund a card',
        description: '409: the card to charge is not active, or its balance is too small.',
        body: CardTransactionInput,
        answer: CardMovement,
        status: 201,
        errors: [409],
        run: async ({ params, body }) => {
          const { type, ...movement } = body;
          const { card, transaction } = await cards.move(params.id, type, movement);
          return { card: cardView(card), transaction };
        },
      }),
    ],

    'Control: merchants and wallets': [
      control('GET /merchants', {
        summary: 'Merchants with their keys',
        answer: MerchantList,
        verbatim: true,
        run: () => {
          const first = merchants.default;
          const all = [...store.state.merchants.values()];
          return wholeList(all.map((merchant) => ({ ...merchant, isDefault: merchant === first })));
        },
      }),
      control('POST /merchants', {
        summary: 'Register a merchant',
        body: MerchantInput,
        answer: Merchant,
        verbatim: true,
        status: 201,
        run: ({ body }) => merchants.add(body.name),
      }),
      control('POST /merchants/:id/keys', {
        summary: 'Generate a new key pair',
        description: 'The old pair stops working immediately.',
        params: { id: 'Id or name of the merchant.' },
        answer: Merchant,
        verbatim: true,
        run: ({ params }) => merchants.replaceKeys(params.id),
      }),
      control('GET /wallets', {
        summary: 'Live-mode wallets',
        answer: WalletList,
        run: () => wholeList([...store.state.wallets.values()]),
      }),
      control('POST /wallets/:id/fund', {
        summary: 'Add money to a wallet',
        body: FundInput,
        answer: Wallet,
        run: ({ params, body }) => wallets.fund(params.id, body.amount),
      }),
    ],

    'Control: activity': [
      control('GET /requests', {
        summary: 'Requests to the service and their responses, newest first',
        query: RequestQuery,
        answer: RequestList,
        run: ({ query: { path, method, payment, limit = 100 } }) => {
          const id = payment === undefined ? undefined : (store.state.findPayment(payment)?.id ?? payment);
          const fits = (request: RecordedRequest) =>
            (path === undefined || request.target.split('?', 1)[0] === path) &&
            (method === undefined || request.method === method.toUpperCase()) &&
            (id === undefined || request.paymentId === id);
          const found = events.requests().filter(fits).slice(0, limit);
          return wholeList(found.map((request) => maskedRequest(request, parts)));
        },
      }),
      control('GET /inbox', {
        summary: 'Verification codes that were "sent", newest first',
        answer: MessageList,
        run: () => wholeList(listPage(store.state.messages, { limit: 100 }, inboxMessage).data),
      }),
      control('GET /events', {
        summary: 'Stream all events (server-sent events)',
        description:
          'The name of an event is its `type`; its data is a SimEvent (see x-event-data) on one line. A client that is more than 1,000 events behind is disconnected.',
        query: EventQuery,
        answer: null,
        type: 'text/event-stream',
        headers: { 'Last-Event-ID': 'Resume after this event. Browsers send it when they reconnect.' },
        run: ({ c, query: { since, follow = true } }) => {
          const from = Number(c.req.header('last-event-id') ?? since ?? events.newest);
          return eventStream(c, parts, Number.isInteger(from) ? from : events.newest, follow);
        },
      }),
    ],

    'Control: faults': [
      control('GET /faults', {
        summary: 'Fault rules, in the order of evaluation',
        answer: FaultList,
        run: faultList,
      }),
      control('POST /faults', {
        summary: 'Set one rule',
        description: 'It replaces the rule with the same route and identifiers.',
        body: FaultRule,
        answer: Fault,
        status: 201,
        run: ({ body }) => faultView(faults.set(body)),
      }),
      control('PUT /faults', {
        summary: 'Replace all rules',
        body: FaultRules,
        answer: FaultList,
        run: ({ body }) => {
          faults.replace(body.faults);
          return faultList();
        },
      }),
      control('DELETE /faults', {
        summary: 'Clear all rules, or the rules of one route',
        query: ClearQuery,
        answer: ClearedFaults,
        run: ({ query }) => ({ cleared: faults.clear(query.route), ...faultList() }),
      }),
    ],

    'Control: clock': [
      control('GET /clock', {
        summary: "The emulator's time",
        answer: Clock,
        run: () => clockView(clock.read()),
      }),
      control('POST /clock', {
        summary: 'Advance, freeze, resume or reset time',
        description: 'Responds after everything that was due has run.',
        body: ClockInput,
        answer: Clock,
        errors: [504],
        run: async ({ body }) => clockView(await clock.move(body)),
      }),
    ],

    'Control: state': [
      control('POST /reset', {
        summary: 'Reset to the initial fixtures',
        description: 'Merchants keep their keys. Scheduled events are dropped.',
        answer: Counted,
        run: async () => {
          await state.reset();
          return { counts: recordCounts(parts) };
        },
      }),
      control('GET /snapshot', {
        summary: 'Export the whole state',
        answer: State,
        run: ({ c }) => {
          // In slices, so that a large state does not delay payments.
          const body = Readable.toWeb(Readable.from(state.snapshotText())) as ReadableStream<Uint8Array>;
          return c.body(body, 200, { 'Content-Type': JSON_TYPE });
        },
      }),
      control('PUT /snapshot', {
        summary: 'Replace the whole state',
        description: 'All or nothing. Maximum 64 MiB.',
        body: GivenState,
        readsBody: true,
        answer: Counted,
        run: async ({ c }) => {
          await state.restore(await readStateText(c));
          return { counts: recordCounts(parts) };
        },
      }),
    ],

    'Control: emulator': [
      control('GET /status', {
        summary: 'Version, address, counts and current options',
        answer: Status,
        run: () => {
          const { dataDir, tlsCa, pid, startedAt } = runtime;
          const { secretKey, controlToken, choices: _, ...options } = runtime.options;
          return {
            version: VERSION,
            mode: dataDir === null ? ('in-memory' as const) : ('on-disk' as const),
            url: runtime.baseUrl(),
            dataDir,
            tlsCa,
            pid,
            startedAt,
            clock: clockView(clock.read()),
            faults: faults.list.map(faultView),
            notices: [...state.notices()],
            database: parts.rows.state,
            counts: { ...recordCounts(parts), payments: paymentCounts(parts) },
            fidelity: fidelityIn(runtime.options),
            options: {
              ...options,
              secretKey: secretKey === undefined ? null : masked(secretKey),
              controlToken: controlToken === undefined ? null : masked(controlToken),
            },
          };
        },
      }),
      control('GET /openapi.json', {
        summary: 'The OpenAPI document',
        answer: z.custom<object>(),
        verbatim: true,
        run: document,
      }),
      control('POST /shutdown', {
        summary: 'Stop gracefully',
        answer: Stopping,
        run: () => {
          // Sends the response before the server begins to stop.
          setImmediate(() => void runtime.stop());
          const next = runtime.dataDir === null ? null : clock.nextAfterRestart();
          return {
            stopping: true as const,
            pid: runtime.pid,
            nextDue: next === null ? null : timestamp(next),
          };
        },
      }),
    ],
  };
}

/** Aborted when the client has its response, or no longer waits for it. */
function untilClosed({ env }: AppContext): AbortSignal {
  const closed = new AbortController();
  env.outgoing?.once('close', () => closed.abort());
  return closed.signal;
}

function recordCounts({ store: { state } }: AppDependencies): RecordCounts {
  return {
    payments: state.payments.size,
    deliveries: state.deliveries.size,
    merchants: state.merchants.size,
    wallets: state.wallets.size,
    cards: state.cards.size,
  };
}

function paymentCounts({ store }: AppDependencies): Record<PaymentStatus, number> {
  const counts = { pending: 0, succeeded: 0, canceled: 0, failed: 0, expired: 0 };
  for (const { status } of store.state.payments.values()) counts[status]++;
  return counts;
}
