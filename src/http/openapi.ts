import * as z from 'zod/mini';
import { CardRequest, ToggleRequest } from '../domain/card.ts';
import { CODE_LIFETIME_MS } from '../domain/checkout.ts';
import { FaultRule, FaultRules } from '../domain/fault.ts';
import { InitiateRequest } from '../domain/payment.ts';
import { CardQuery, CardTransactionInput } from './control/cards.ts';
import { ClockInput } from './control/clock.ts';
import { ClearQuery } from './control/faults.ts';
import { DeliveryQuery, FireInput, ResendInput } from './control/ipns.ts';
import { FundInput, MerchantInput } from './control/merchants.ts';
import { PaymentQuery, SettleInput } from './control/payments.ts';
import { EventQuery, RequestQuery } from './control/watch.ts';
import type { ServerFacts } from './environment.ts';
import { CARD_PATHS } from './service/cards.ts';
import { INITIATE_PATHS } from './service/initiate.ts';
import { CHECKOUT_PATHS } from './urls.ts';

/** Where a behaviour comes from: the service interface, published clients and deployments, or us. */
type Source = 'documented' | 'observed' | 'chosen';

interface Operation {
  method: 'get' | 'post' | 'put' | 'delete';
  path: string;
  summary: string;
  source: Source;
  /** Media types of the request body, all with one schema. */
  body?: { types: readonly string[]; schema: z.ZodMiniType };
  query?: z.ZodMiniObject;
  /** What a success answers with. */
  answer: { status: number; description: string; type?: string };
  errors?: readonly number[];
}

const JSON_TYPE = 'application/json';
const FORM = 'application/x-www-form-urlencoded';
const CheckoutQuery = z.object({ payment_id: z.string() });
const EmailForm = z.object({ email: z.string() });
const TokenForm = z.object({ token: z.string() });
const CardListQuery = z.object({ page: z.optional(z.string()) });
const CodeForm = z.object({ code: z.string() });
const PanelForm = z.object({ outcome: SettleInput.shape.outcome, delivery: SettleInput.shape.delivery });

const seeOther = {
  status: 303,
  description: 'To the next page, or to the address of the merchant, exactly as given.',
};
const page = { status: 200, description: 'A page.', type: 'text/html' };
const json = (description: string, status = 200) => ({ status, description, type: JSON_TYPE });

const OPERATIONS: readonly Operation[] = [
  ...(['live', 'sandbox'] as const).flatMap((mode): Operation[] => [
    {
      method: 'post',
      path: INITIATE_PATHS[mode],
      summary: `Initiate a payment (${mode}). Refusals are answered 200 unless --error-status http.`,
      source: 'documented',
      body: { types: [FORM, 'multipart/form-data', JSON_TYPE], schema: InitiateRequest },
      answer: json('success, message and the checkout url'),
      errors: [400, 401, 413, 415, 422],
    },
    ...(['get', 'post'] as const).map(
      (method): Operation => ({
        method,
        path: CHECKOUT_PATHS[mode],
        summary: `Hosted checkout (${mode}).`,
        source: 'observed',
        query: CheckoutQuery,
        answer: page,
        errors: [404, 409, 410],
      }),
    ),
    step(mode, 'email', 'The customer enters an e-mail.', EmailForm),
    step(
      mode,
      'code',
      `The customer enters the verification code, valid for ${CODE_LIFETIME_MS / 60_000} minutes.`,
      CodeForm,
    ),
    step(mode, 'resend', 'The customer asks for a new code.'),
    step(mode, 'back', 'The customer changes the e-mail.'),
    step(mode, 'cancel', 'The customer cancels.'),
    step(mode, 'panel', 'The simulator panel settles the payment.', PanelForm),
  ]),
  card('get', CARD_PATHS.list, 'List virtual cards, newest first.', { query: CardListQuery }),
  card('post', CARD_PATHS.create, 'Create a virtual card.', { body: CardRequest }),
  card('get', CARD_PATHS.read, 'Get a virtual card with its transactions.'),
  card('put', CARD_PATHS.toggle, 'Activate or block a virtual card.', { body: ToggleRequest }),
  card('put', CARD_PATHS.cancel, 'Cancel a virtual card: that is final.'),
  control('get', '/_sim/cards', 'Cards of all merchants, newest first.', { query: CardQuery }),
  control('get', '/_sim/cards/{id}', 'A card with its transactions.'),
  control('post', '/_sim/cards/{id}/transactions', 'Charge or fund a card.', {
    body: CardTransactionInput,
    status: 201,
  }),
  control('get', '/_sim/livez', 'Whether the process answers.'),
  control('get', '/_sim/readyz', 'Whether state is loaded and requests are taken.'),
  control('get', '/_sim/status', 'Version, address, counts, options in force, process.'),
  control('get', '/_sim/openapi.json', 'This document.'),
  control('get', '/_sim/payments', 'Payments, newest first.', { query: PaymentQuery }),
  control('get', '/_sim/payments/{ref}', 'A payment by id or identifier, with its timeline.'),
  control('post', '/_sim/payments/{ref}/settle', 'Settle a pending payment.', { body: SettleInput }),
  control('get', '/_sim/ipns', 'Deliveries with every attempt, newest first.', { query: DeliveryQuery }),
  control('get', '/_sim/ipns/{id}', 'One delivery.'),
  control('post', '/_sim/ipns/{id}/resend', 'Send a delivery once more; answers after the attempt.', {
    body: ResendInput,
  }),
  control('post', '/_sim/ipns', 'Make an IPN by hand; answers after the attempts.', {
    body: FireInput,
    status: 201,
  }),
  control('get', '/_sim/merchants', 'Merchants with their keys.'),
  control('post', '/_sim/merchants', 'Register a merchant.', { body: MerchantInput, status: 201 }),
  control('post', '/_sim/merchants/{id}/keys', 'Generate a new pair of keys; the old one stops working.'),
  control('get', '/_sim/wallets', 'Wallets of live mode.'),
  control('post', '/_sim/wallets/{id}/fund', 'Put money into a wallet.', { body: FundInput }),
  control('get', '/_sim/clock', "The emulator's time, and when the next thing is due."),
  control('post', '/_sim/clock', 'Advance, freeze or resume time; answers when what fell due has run.', {
    body: ClockInput,
  }),
  control('get', '/_sim/faults', 'Fault rules in the order in which they are tried, with their uses.'),
  control(
    'post',
    '/_sim/faults',
    'Set one rule, in the place of the one on the same route and identifiers.',
    {
      body: FaultRule,
      status: 201,
    },
  ),
  control('put', '/_sim/faults', 'Set these rules and no others.', { body: FaultRules }),
  control('delete', '/_sim/faults', 'Take all rules away, or those on one route.', { query: ClearQuery }),
  control('get', '/_sim/inbox', 'Verification codes that were "sent", newest first.'),
  control('get', '/_sim/requests', 'Requests to the service and their answers, newest first.', {
    query: RequestQuery,
  }),
  control('get', '/_sim/events', 'Server-sent events of everything that happens.', {
    query: EventQuery,
    type: 'text/event-stream',
  }),
  control('post', '/_sim/shutdown', 'Stop gracefully.'),
  uiPage('/_sim', 'The dashboard. Asks for the control token where one is needed.', [401]),
  uiPage('/_sim/ui/paid', 'Stands in for the success_url of a merchant that has none.'),
  uiPage('/_sim/ui/canceled', 'Stands in for the cancel_url of a merchant that has none.'),
  uiPage(
    '/_sim/ui/logo.svg',
    'Stands in for the site_logo of a merchant that has none.',
    [],
    'image/svg+xml',
  ),
  {
    method: 'post',
    path: '/_sim/ui/token',
    summary: 'The dashboard takes the control token and keeps it in a cookie.',
    source: 'chosen',
    body: { types: [FORM], schema: TokenForm },
    answer: seeOther,
    errors: [401, 403],
  },
];

function uiPage(path: string, summary: string, errors: number[] = [], type = 'text/html'): Operation {
  return {
    method: 'get',
    path,
    summary,
    source: 'chosen',
    answer: { ...page, type },
    errors: [...errors, 403],
  };
}

function step(mode: 'live' | 'sandbox', name: string, summary: string, form?: z.ZodMiniType): Operation {
  return {
    method: 'post',
    path: `${CHECKOUT_PATHS[mode]}/${name}`,
    summary: `${summary} (${mode})`,
    source: 'chosen',
    query: CheckoutQuery,
    ...(form && { body: { types: [FORM], schema: form } }),
    answer: seeOther,
    errors: [403, 404, 409, 410, 422],
  };
}

/** A card endpoint: the routes and messages are documented, the answers chosen. */
function card(
  method: Operation['method'],
  route: string,
  summary: string,
  more: { query?: z.ZodMiniObject; body?: z.ZodMiniType } = {},
): Operation {
  const path = route.replace(':id', '{id}');
  const { query, body } = more;
  return {
    method,
    path,
    summary,
    source: 'documented',
    ...(query && { query }),
    ...(body && { body: { types: [JSON_TYPE], schema: body } }),
    answer: { status: 200, description: summary, type: JSON_TYPE },
    errors: [401, ...(body ? [400, 413, 415] : []), ...(path === CARD_PATHS.list ? [] : [404, 409]), 422],
  };
}

function control(
  method: Operation['method'],
  path: string,
  summary: string,
  more: { query?: z.ZodMiniObject; body?: z.ZodMiniType; status?: number; type?: string } = {},
): Operation {
  const { query, body, status = 200, type = JSON_TYPE } = more;
  const byReference = path.includes('{');
  return {
    method,
    path,
    summary,
    source: 'chosen',
    ...(query && { query }),
    ...(body && { body: { types: [JSON_TYPE], schema: body } }),
    answer: { status, description: summary, type },
    errors: [
      401,
      403,
      ...(byReference ? [404] : []),
      ...(path.endsWith('/settle') ? [409] : []),
      ...(body || query ? [422] : []),
    ],
  };
}

const schemaOf = (schema: z.ZodMiniType): Record<string, unknown> => {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return rest;
};

const ERROR_SCHEMA = {
  type: 'object',
  required: ['error', 'message', 'errors'],
  properties: {
    error: { type: 'string', const: 'true', description: 'documented' },
    message: { type: 'string', description: 'The first problem (documented).' },
    errors: { type: 'array', items: { type: 'string' }, description: 'Every problem (observed).' },
    code: { type: 'string', description: 'Under /_sim only (chosen).' },
    remedy: { type: 'string', description: 'Under /_sim only (chosen).' },
  },
};

/** The OpenAPI 3.1 document of the service and the control API, made from the schemas that validate. */
export function openApiDocument(facts: Pick<ServerFacts, 'version' | 'baseUrl'>) {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const operation of OPERATIONS) {
    const item = paths[operation.path] ?? {};
    item[operation.method] = describe(operation);
    paths[operation.path] = item;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'gateway-sim',
      version: facts.version,
      description:
        'A local emulator of a hosted payment gateway. No real money moves. x-source tells where each operation comes from: documented, observed or chosen.',
    },
    servers: [{ url: facts.baseUrl() }],
    paths,
    components: {
      schemas: { Error: ERROR_SCHEMA },
      securitySchemes: { controlToken: { type: 'http', scheme: 'bearer' } },
    },
  };
}

function describe({ method, path, summary, source, body, query, answer, errors = [] }: Operation) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
  }));
  return {
    operationId: `${method}${path.replace(/[^a-zA-Z0-9]+(.)?/g, (_, next: string | undefined) => next?.toUpperCase() ?? '')}`,
    summary,
    description: `Source: ${source}.`,
    'x-source': source,
    ...((inPath.length || query) && { parameters: [...inPath, ...(query ? queryParameters(query) : [])] }),
    ...(body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(body.types.map((type) => [type, { schema: schemaOf(body.schema) }])),
      },
    }),
    responses: {
      [answer.status]: {
        description: answer.description,
        ...(answer.type && { content: { [answer.type]: {} } }),
      },
      ...Object.fromEntries(
        errors.map((status) => [
          status,
          {
            description: 'Refused.',
            content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } },
          },
        ]),
      ),
    },
  };
}

function queryParameters(query: z.ZodMiniObject) {
  const { properties = {}, required = [] } = schemaOf(query) as { properties?: object; required?: string[] };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
}
