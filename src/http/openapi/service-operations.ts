import * as z from 'zod/mini';
import { MODES, type Mode } from '../../contract/vocabulary.ts';
import { CODE_LIFETIME_MS } from '../../domain/checkout.ts';
import { CARD_PATHS, CHECKOUT_PATHS, INITIATE_PATHS } from '../../wire/paths.ts';
import type { SchemaName } from './components.ts';
import { EXAMPLES } from './examples.ts';
import { NOTES } from './notes.ts';
import { type Answer, type Examples, FORM_TYPE, HTML_TYPE, JSON_TYPE, type Operation } from './operation.ts';

const CheckoutQuery = z.object({ payment_id: z.string() });
const CardListQuery = z.object({ page: z.optional(z.string()) });
const MODE_IN_WORDS = { live: 'live mode', sandbox: 'test mode' } as const satisfies Record<Mode, string>;

const page: Answer = { status: 200, description: 'A page.', type: HTML_TYPE };
const seeOther: Answer = {
  status: 303,
  description: 'To the next page, or to the address of the merchant, exactly as given.',
  headers: { Location: { type: 'string', description: 'Where the browser goes.' } },
};

function initiate(mode: Mode): Operation {
  return {
    method: 'post',
    path: INITIATE_PATHS[mode],
    tag: 'Service: payments',
    side: 'service',
    summary: `Initiate a payment in ${MODE_IN_WORDS[mode]}`,
    description:
      'The public key in the body tells the merchant. Refusals are answered 200 (observed), so look at the body; `--error-status http` answers 422 and 401 instead. Fields are checked first, all of them at once, then the currency, then the key. JSON bodies are taken, too (chosen), and CORS is open (observed).',
    source: 'documented',
    body: {
      types: [FORM_TYPE, 'multipart/form-data', JSON_TYPE],
      schema: 'InitiateRequest',
      examples: EXAMPLES.initiate,
    },
    answers: [
      {
        status: 200,
        description: 'A checkout URL for the customer, or why there is none.',
        schemas: ['InitiateAnswer', 'Error'],
        headers: { 'Access-Control-Allow-Origin': { type: 'string', description: 'Always `*`.' } },
        examples: EXAMPLES.initiated[mode],
      },
    ],
    errors: [400, 401, 413, 415, 422],
  };
}

function checkout(mode: Mode): Operation[] {
  const common = {
    path: CHECKOUT_PATHS[mode],
    tag: 'Service: checkout',
    side: 'checkout',
    query: CheckoutQuery,
    headers: { 'Accept-Language': 'English unless it asks for French.' },
    answers: [page, seeOther],
    errors: [404, 409, 410],
  } as const;
  return [
    {
      ...common,
      method: 'get',
      summary: `Hosted checkout in ${MODE_IN_WORDS[mode]}`,
      description:
        'The step that the payment is on. One that settled itself leads to the address of the merchant at once.',
      source: 'observed',
    },
    {
      ...common,
      method: 'post',
      summary: `Hosted checkout in ${MODE_IN_WORDS[mode]}, by POST`,
      description: 'Answers like the GET: one published client sends the browser here by POST.',
      source: 'observed',
    },
    step(mode, { name: 'email', summary: 'Enter the e-mail', form: 'EmailForm' }),
    step(mode, {
      name: 'code',
      summary: 'Enter the verification code',
      form: 'CodeForm',
      description: `In live mode it is valid for ${CODE_LIFETIME_MS / 60_000} minutes. The right one pays.`,
      settles: true,
    }),
    step(mode, { name: 'resend', summary: 'Ask for a new verification code' }),
    step(mode, { name: 'back', summary: 'Change the e-mail' }),
    step(mode, { name: 'cancel', summary: 'Cancel', settles: true }),
    step(mode, {
      name: 'panel',
      summary: 'Settle from the simulator panel',
      form: 'PanelForm',
      description: 'Not there with --no-panel.',
      settles: true,
    }),
  ];
}

interface Step {
  name: string;
  summary: string;
  form?: SchemaName;
  description?: string;
  settles?: true;
}

/** What is wrong with an entry is told to a browser on the page that it is led to, to a program by 422. */
function step(mode: Mode, { name, summary, form, description, settles }: Step): Operation {
  const stays: Answer = {
    ...page,
    description: 'It is settled, and the browser stays: delivery `ipn-only`.',
  };
  return {
    method: 'post',
    path: `${CHECKOUT_PATHS[mode]}/${name}`,
    tag: 'Service: checkout',
    side: 'checkout',
    summary: `${summary}, in ${MODE_IN_WORDS[mode]}`,
    ...(description !== undefined && { description }),
    source: 'chosen',
    query: CheckoutQuery,
    ...(form && { body: { types: [FORM_TYPE], schema: form } }),
    answers: settles ? [stays, seeOther] : [seeOther],
    errors: [403, 404, 409, 410, ...(form ? [400, 413, 415, 422] : [])],
  };
}

interface CardOperation {
  method: Operation['method'];
  route: keyof typeof CARD_PATHS;
  summary: string;
  description: string;
  answer: SchemaName;
  answers: Examples;
  body?: { schema: SchemaName; examples: Examples };
  query?: z.ZodMiniObject;
  errors: readonly number[];
}

/** A card endpoint: routes and messages are documented, answers and statuses chosen. */
function card({
  method,
  route,
  summary,
  description,
  answer,
  answers,
  body,
  query,
  errors,
}: CardOperation): Operation {
  return {
    method,
    path: CARD_PATHS[route].replace(':id', '{id}'),
    tag: 'Service: cards',
    side: 'service',
    summary,
    description,
    source: 'documented',
    security: 'secretKey',
    ...(query && { query }),
    ...(body && { body: { types: [JSON_TYPE], ...body } }),
    answers: [
      {
        status: 200,
        description: NOTES[answer]?.about ?? `${summary}.`,
        schemas: [answer],
        examples: answers,
      },
    ],
    errors: [401, ...(body ? [400, 413, 415] : []), ...errors],
  };
}

const CARDS: readonly Operation[] = [
  card({
    method: 'get',
    route: 'list',
    summary: 'List virtual cards',
    description: 'Newest first, 15 on a page (chosen). A page past the end is empty.',
    query: CardListQuery,
    answer: 'VirtualCardList',
    answers: EXAMPLES.cardList,
    errors: [422],
  }),
  card({
    method: 'post',
    route: 'create',
    summary: 'Create a virtual card',
    description: 'New cards are active, and their charges are taken from the amount (chosen).',
    body: { schema: 'CardRequest', examples: EXAMPLES.cardRequest },
    answer: 'VirtualCardAnswer',
    answers: EXAMPLES.cardCreated,
    errors: [422],
  }),
  card({
    method: 'get',
    route: 'read',
    summary: 'Get a virtual card with its transactions',
    description: "Another merchant's card does not exist (chosen).",
    answer: 'VirtualCardDetails',
    answers: EXAMPLES.cardDetails,
    errors: [404, 405, 422],
  }),
  card({
    method: 'put',
    route: 'toggle',
    summary: 'Activate or block a virtual card',
    description:
      'To the state that it already has: succeeds and changes nothing. A canceled card is refused (chosen).',
    body: { schema: 'ToggleRequest', examples: EXAMPLES.toggleRequest },
    answer: 'VirtualCardAnswer',
    answers: EXAMPLES.cardToggled,
    errors: [404, 409, 422],
  }),
  card({
    method: 'put',
    route: 'cancel',
    summary: 'Cancel a virtual card',
    description: 'That is final: a canceled card is refused (chosen).',
    answer: 'VirtualCardAnswer',
    answers: EXAMPLES.cardCanceled,
    errors: [404, 409, 422],
  }),
];

/** The operations of the emulated service. */
export const SERVICE_OPERATIONS: readonly Operation[] = [
  ...MODES.toReversed().map(initiate),
  ...MODES.toReversed().flatMap(checkout),
  ...CARDS,
];
