import type * as z from 'zod/mini';
import { CardQuery } from '../control/cards.ts';
import { ClearQuery } from '../control/faults.ts';
import { DeliveryQuery } from '../control/ipns.ts';
import { PaymentQuery } from '../control/payments.ts';
import { EventQuery, RequestQuery } from '../control/watch.ts';
import type { SchemaName } from './components.ts';
import { REQUEST_EXAMPLES } from './examples.ts';
import { NOTES } from './notes.ts';
import { type Answer, FORM_TYPE, HTML_TYPE, JSON_TYPE, type Operation, type Tag } from './operation.ts';

interface More {
  description?: string;
  query?: z.ZodMiniObject;
  body?: SchemaName;
  /** The body may be left out. */
  optionalBody?: true;
  status?: number;
  type?: string;
  headers?: Operation['headers'];
  errors?: readonly number[];
}

/** An operation of the control API: all of it is chosen. */
function control(
  tag: Tag,
  route: string,
  summary: string,
  answer: SchemaName | readonly SchemaName[] | null,
  more: More = {},
): Operation {
  const [method, path] = route.split(' ') as [Operation['method'], string];
  const { description, query, body, optionalBody, status = 200, type, headers, errors = [] } = more;
  const schemas = typeof answer === 'string' ? [answer] : answer;
  return {
    method,
    path,
    tag,
    side: 'control',
    summary,
    ...(description !== undefined && { description }),
    source: 'chosen',
    security: 'controlToken',
    ...(query && { query }),
    ...(headers && { headers }),
    ...(body && { body: bodyOf(body, optionalBody) }),
    answers: [
      {
        status,
        description: aboutOf(schemas) ?? `${summary}.`,
        ...(type && { type }),
        ...(schemas && { schemas }),
      },
    ],
    errors: [
      401,
      403,
      ...(path.includes('{') ? [404] : []),
      ...(body ? [400, 413, 415, 422] : query ? [422] : []),
      ...errors,
    ],
  };
}

/** What the answer is, where one schema says so. */
function aboutOf(schemas: readonly SchemaName[] | null): string | undefined {
  const [only, ...more] = schemas ?? [];
  return only !== undefined && !more.length ? NOTES[only]?.about : undefined;
}

function bodyOf(schema: SchemaName, optional: true | undefined): NonNullable<Operation['body']> {
  const examples = REQUEST_EXAMPLES[schema];
  return { types: [JSON_TYPE], schema, ...(optional && { optional }), ...(examples && { examples }) };
}

/** Asked by whoever waits for the emulator: guarded by nothing. */
function probe(path: string, summary: string, answer: SchemaName): Operation {
  const { security: _, ...open } = control('Control: emulator', `get ${path}`, summary, answer);
  return { ...open, errors: [] };
}

const REFERENCE =
  'The reference is an id or an identifier: the newest pending payment with it, else the newest.';

const CONTROL: readonly Operation[] = [
  control('Control: payments', 'get /_sim/payments', 'Payments, newest first', 'PaymentList', {
    query: PaymentQuery,
  }),
  control(
    'Control: payments',
    'get /_sim/payments/{ref}',
    'A payment with its timeline',
    'PaymentWithTimeline',
    {
      description: REFERENCE,
    },
  ),
  control('Control: payments', 'post /_sim/payments/{ref}/settle', 'Settle a pending payment', 'Settled', {
    description: REFERENCE,
    body: 'SettleInput',
    errors: [409],
  }),
  control('Control: IPNs', 'get /_sim/ipns', 'Deliveries with every attempt, newest first', 'DeliveryList', {
    query: DeliveryQuery,
    errors: [404],
  }),
  control('Control: IPNs', 'get /_sim/ipns/{id}', 'One delivery', 'Delivery'),
  control('Control: IPNs', 'post /_sim/ipns/{id}/resend', 'Send a delivery once more', 'Delivery', {
    description: 'Answers after the attempt. 403: the egress guard does not let it out.',
    body: 'ResendInput',
    optionalBody: true,
  }),
  control('Control: IPNs', 'post /_sim/ipns', 'Make an IPN by hand', ['Delivery', 'DeliveryBatch'], {
    description:
      'Answers after the attempts: the delivery, or a list where `times` made several. 403: the egress guard does not let it out.',
    body: 'FireInput',
    status: 201,
    errors: [404],
  }),
  control('Control: cards', 'get /_sim/cards', 'Cards of all merchants, newest first', 'CardList', {
    query: CardQuery,
  }),
  control('Control: cards', 'get /_sim/cards/{id}', 'A card with its transactions', 'CardWithTransactions'),
  control('Control: cards', 'post /_sim/cards/{id}/transactions', 'Charge or fund a card', 'CardMovement', {
    description: 'Refused (409) when a card to be charged is not active or its balance is too small.',
    body: 'CardTransactionInput',
    status: 201,
    errors: [409],
  }),
  control(
    'Control: merchants and wallets',
    'get /_sim/merchants',
    'Merchants with their keys',
    'MerchantList',
  ),
  control('Control: merchants and wallets', 'post /_sim/merchants', 'Register a merchant', 'Merchant', {
    body: 'MerchantInput',
    status: 201,
  }),
  control(
    'Control: merchants and wallets',
    'post /_sim/merchants/{id}/keys',
    'Generate a new pair of keys',
    'Merchant',
    { description: 'The old pair stops working at once.' },
  ),
  control('Control: merchants and wallets', 'get /_sim/wallets', 'Wallets of live mode', 'WalletList'),
  control(
    'Control: merchants and wallets',
    'post /_sim/wallets/{id}/fund',
    'Put money into a wallet',
    'Wallet',
    { body: 'FundInput' },
  ),
  control(
    'Control: what happened',
    'get /_sim/requests',
    'Requests to the service and their answers, newest first',
    'RequestList',
    { query: RequestQuery },
  ),
  control(
    'Control: what happened',
    'get /_sim/inbox',
    'Verification codes that were "sent", newest first',
    'MessageList',
  ),
  control(
    'Control: what happened',
    'get /_sim/events',
    'Server-sent events of everything that happens',
    null,
    {
      description: 'The event is named by its `type`; its data is a SimEvent (see x-event-data) on one line.',
      query: EventQuery,
      type: 'text/event-stream',
      headers: { 'Last-Event-ID': 'Goes on after this event; browsers send it when they connect again.' },
    },
  ),
  control(
    'Control: faults',
    'get /_sim/faults',
    'Fault rules, in the order in which they are tried',
    'FaultList',
  ),
  control('Control: faults', 'post /_sim/faults', 'Set one rule', 'Fault', {
    description: 'It takes the place of the one on the same route and identifiers.',
    body: 'FaultRule',
    status: 201,
  }),
  control('Control: faults', 'put /_sim/faults', 'Set these rules and no others', 'FaultList', {
    body: 'FaultRules',
  }),
  control(
    'Control: faults',
    'delete /_sim/faults',
    'Clear all rules, or those on one route',
    'ClearedFaults',
    {
      query: ClearQuery,
    },
  ),
  control('Control: clock', 'get /_sim/clock', "The emulator's time", 'Clock'),
  control('Control: clock', 'post /_sim/clock', 'Advance, freeze or resume time', 'Clock', {
    description: 'Answers when what fell due on the way has run.',
    body: 'ClockInput',
    errors: [504],
  }),
  control('Control: state', 'post /_sim/reset', 'Back to the fixtures that it started with', 'Counted', {
    description: 'Merchants keep their keys; what is due is dropped.',
  }),
  control('Control: state', 'get /_sim/snapshot', 'The whole state', 'State'),
  control('Control: state', 'put /_sim/snapshot', 'Put a whole state in the place of this one', 'Counted', {
    description: 'All or nothing, at most 256 MiB.',
    body: 'GivenState',
  }),
  probe('/_sim/livez', 'Whether the process answers', 'Live'),
  probe('/_sim/readyz', 'Whether state is loaded and requests are taken', 'Ready'),
  control('Control: emulator', 'get /_sim/status', 'Version, address, counts, options in force', 'Status'),
  control('Control: emulator', 'get /_sim/openapi.json', 'This document', null),
  control('Control: emulator', 'post /_sim/shutdown', 'Stop gracefully', 'Stopping'),
];

function page(path: string, summary: string, errors: readonly number[], type = HTML_TYPE): Operation {
  return {
    method: 'get',
    path,
    tag: 'Dashboard',
    side: 'page',
    summary,
    source: 'chosen',
    answers: [{ status: 200, description: `${summary}.`, type }],
    errors,
  };
}

const seeOther: Answer = {
  status: 303,
  description: 'To the dashboard.',
  headers: { Location: { type: 'string', description: 'Where the browser goes.' } },
};

const DASHBOARD: readonly Operation[] = [
  page('/_sim', 'The dashboard; asks for the control token where one is needed', [401, 403]),
  { ...page('/_sim/ui/reference', 'This document as a page', [401, 403]), security: 'controlToken' },
  page('/_sim/ui/paid', 'Stands in for the success_url of a merchant that has none', [403]),
  page('/_sim/ui/canceled', 'Stands in for the cancel_url of a merchant that has none', [403]),
  page(
    '/_sim/ui/logo.svg',
    'Stands in for the site_logo of a merchant that has none',
    [403],
    'image/svg+xml',
  ),
  {
    ...page('/_sim/ui/token', 'Takes the control token and keeps it in a cookie', [400, 401, 403, 413, 415]),
    method: 'post',
    body: { types: [FORM_TYPE], schema: 'TokenForm' },
    answers: [seeOther],
  },
];

/** The operations of the control API, and the pages that have a lasting address. */
export const CONTROL_OPERATIONS: readonly Operation[] = [...CONTROL, ...DASHBOARD];
