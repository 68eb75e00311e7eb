import type { Hono } from 'hono';
import type * as z from 'zod/mini';
import { GatewayError } from '../../contract/error.ts';
import { query } from '../../contract/field.ts';
import { optionalText } from '../../contract/input.ts';
import type { Merchant } from '../../contract/merchant.ts';
import type { PostedFields } from '../../wire/body.ts';
import { readJsonBody } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { bearer } from '../guard.ts';
import { described, type Examples, type Operation } from '../operation.ts';

/** Last words of the other routes' paths, which are no ids, and the method that they answer. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['save', 'POST'],
  ['toggle', 'PUT'],
  ['cancel', 'PUT'],
]);

/** Mounts the five card endpoints. */
export function mountCards(app: Hono<AppEnvironment>, parts: AppParts): void {
  mountReads(app, parts);
  mountChanges(app, parts);
}

function mountReads(app: Hono<AppEnvironment>, parts: AppParts): void {
  const { cards, dialect } = parts;
  const { paths, messages } = dialect;
  const { examples } = messages;
  app.get(
    paths.cards.list,
    described(
      operation({
        summary: 'List virtual cards',
        description: 'Newest first, 15 on a page (chosen). A page past the end is empty.',
        query: CardListQuery,
        answer: messages.VirtualCardList,
        examples: examples.cardList,
        errors: [422],
      }),
      (c: AppContext) => {
        const merchant = merchantOf(c, parts);
        const page = dialect.readPage(c.req.queries('page')?.at(-1));
        return answer(c, dialect.cardList(cards.page(merchant, page)));
      },
    ),
  );
  app.get(
    paths.cards.read,
    described(
      operation({
        summary: 'Get a virtual card with its transactions',
        description: "Another merchant's card does not exist (chosen).",
        answer: messages.VirtualCardDetails,
        examples: examples.cardDetails,
        errors: [404, 405, 422],
      }),
      (c: AppContext) => {
        refuseReserved(c);
        const merchant = merchantOf(c, parts);
        const card = cards.require(cardId(c, parts), merchant);
        return answer(c, dialect.cardDetails(card, cards.transactions(card)));
      },
    ),
  );
}

function mountChanges(app: Hono<AppEnvironment>, parts: AppParts): void {
  const { cards, dialect } = parts;
  const { paths, messages } = dialect;
  const { examples } = messages;
  app.post(
    paths.cards.create,
    described(
      operation({
        summary: 'Create a virtual card',
        description: 'New cards are active, and their charges are taken from the amount (chosen).',
        body: { schema: messages.CardRequest, examples: examples.cardRequest },
        answer: messages.VirtualCardAnswer,
        examples: examples.cardCreated,
        errors: [422],
      }),
      async (c: AppContext) => {
        const merchant = merchantOf(c, parts);
        const card = await cards.issue(merchant, dialect.readCard(await postedFields(c)));
        return answer(c, dialect.cardAnswer('created', card));
      },
    ),
  );
  app.put(
    paths.cards.toggle,
    described(
      operation({
        summary: 'Activate or block a virtual card',
        description:
          'To the state that it already has: succeeds and changes nothing. A canceled card is refused (chosen).',
        body: { schema: messages.ToggleRequest, examples: examples.toggleRequest },
        answer: messages.VirtualCardAnswer,
        examples: examples.cardToggled,
        errors: [404, 409, 422],
      }),
      async (c: AppContext) => {
        const merchant = merchantOf(c, parts);
        const { cardId: id, action } = dialect.readToggle(await postedFields(c));
        const card = await cards.apply(merchant, id, action);
        return answer(c, dialect.cardAnswer(action === 'activate' ? 'activated' : 'blocked', card));
      },
    ),
  );
  app.put(
    paths.cards.cancel,
    described(
      operation({
        summary: 'Cancel a virtual card',
        description: 'That is final: a canceled card is refused (chosen).',
        answer: messages.VirtualCardAnswer,
        examples: examples.cardCanceled,
        errors: [404, 409, 422],
      }),
      async (c: AppContext) => {
        const card = await cards.apply(merchantOf(c, parts), cardId(c, parts), 'cancel');
        return answer(c, dialect.cardAnswer('canceled', card));
      },
    ),
  );
}

/** The merchant whose secret key the request carries; checked before anything else of it is read. */
function merchantOf(c: AppContext, { merchants }: AppParts): Merchant {
  return merchants.requireBySecretKey(bearer(c));
}

function cardId(c: AppContext, { dialect }: AppParts): string {
  return dialect.readCardId(c.req.param('id') ?? '');
}

const CardListQuery = query('CardListQuery', 'Which page.', {
  page: optionalText('Page number, from 1 (documented).'),
});

interface CardOperation extends Pick<Operation, 'summary' | 'errors'> {
  description: string;
  query?: z.ZodMiniType;
  body?: { schema: z.ZodMiniType; examples: Examples };
  answer: z.ZodMiniType;
  examples: Examples;
}

/** A card endpoint: routes and messages are documented, responses and statuses chosen. */
function operation({ answer: schema, examples, body, errors, ...about }: CardOperation): Operation {
  return {
    ...{ tag: 'Service: cards', side: 'service', source: 'documented', security: 'secretKey' },
    ...about,
    params: { id: 'Card identifier, at most 40 characters (documented).' },
    body,
    answers: [{ status: 200, schemas: [schema], examples }],
    errors,
  };
}

function answer(c: AppContext, body: object): Response {
  c.get('exchange').responseBody = JSON.stringify(body);
  return c.json(body);
}

async function postedFields(c: AppContext): Promise<PostedFields> {
  const posted = await readJsonBody(c);
  c.get('exchange').requestBody = posted.text;
  return posted;
}

/** GET on the path of another route is a wrong method, and never a card. */
function refuseReserved(c: AppContext): void {
  const method = RESERVED.get(c.req.param('id') ?? '');
  if (method === undefined) return;
  throw new GatewayError('method_not_allowed', `${c.req.path} does not answer GET: use ${method}`, {
    allow: [method],
  });
}
