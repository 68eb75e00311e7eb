import { GatewayError } from '../../contract/error.ts';
import { query } from '../../contract/field.ts';
import { optionalText } from '../../contract/input.ts';
import type { Merchant } from '../../contract/merchant.ts';
import type { PostedFields } from '../../wire/body.ts';
import { readFields } from '../body.ts';
import type { App, AppContext, AppDependencies } from '../environment.ts';
import { bearer } from '../guard.ts';
import { described, type Operation } from '../operation.ts';

/** A card endpoint. Routes and messages are documented; responses and statuses are chosen. */
interface Endpoint extends Omit<Operation, 'tag' | 'source'> {
  method: 'GET' | 'POST' | 'PUT';
  path: string;
  /** Creates the body of the response. The merchant is authenticated before the body is read. */
  handle: (c: AppContext, merchant: Merchant) => object | Promise<object>;
}

export function mountCards(app: App, parts: AppDependencies): void {
  const endpoints = endpointsOf(parts);
  for (const { method, path, handle, ...details } of endpoints) {
    const describe = (): Operation => ({
      tag: 'Service: cards',
      source: 'documented',
      security: 'secretKey',
      ...details,
      params: { id: 'Card identifier, at most 40 characters.' },
    });
    const answer = async (c: AppContext) => {
      // A path such as `…/save` is a wrong method, not a card.
      const { path } = c.req;
      const other = endpoints.find((one) => one.method !== 'GET' && one.path.split('/:')[0] === path);
      if (method === 'GET' && other) {
        throw new GatewayError('method_not_allowed', `${path} does not support GET: use ${other.method}`, {
          allow: [other.method],
        });
      }
      const body = await handle(c, parts.merchants.requireBySecretKey(bearer(c)));
      c.get('requestLog').responseBody = JSON.stringify(body);
      return c.json(body);
    };
    app.on(method, path, described(describe, answer));
  }
}

const CardListQuery = query('CardListQuery', 'Which page.', {
  page: optionalText('Page number, from 1.'),
});

function endpointsOf({ cards, dialect }: AppDependencies): Endpoint[] {
  const { paths, messages } = dialect;
  const { examples } = messages;
  const changed = { status: 200, schemas: [messages.VirtualCardAnswer] };
  const cardId = (c: AppContext) => dialect.readCardId(c.req.param('id') ?? '');
  return [
    {
      method: 'GET',
      path: paths.cards.list,
      summary: 'List virtual cards',
      lines: 'card-list*, card-auth-*, card-route-list-post',
      description: 'Newest first, 15 per page. A page past the end is empty.',
      query: CardListQuery,
      answers: [{ status: 200, schemas: [messages.VirtualCardList], examples: examples.cardList }],
      errors: [422],
      handle: (c, merchant) => {
        const page = dialect.readPage(c.req.queries('page')?.at(-1));
        return dialect.cardList(cards.page(merchant, page));
      },
    },
    {
      method: 'GET',
      path: paths.cards.read,
      summary: 'Get a virtual card with its transactions',
      lines: 'card-read*, card-transaction-*, card-charged, card-funded, card-route-card-delete',
      description: 'A card of another merchant is not found.',
      answers: [{ status: 200, schemas: [messages.VirtualCardDetails], examples: examples.cardDetails }],
      errors: [404, 405, 422],
      handle: (c, merchant) => {
        const card = cards.require(cardId(c), merchant);
        return dialect.cardDetails(card, cards.transactions(card));
      },
    },
    {
      method: 'POST',
      path: paths.cards.create,
      summary: 'Create a virtual card',
      lines:
        'card-create*, card-amount-*, card-currency-*, card-title-*, card-name-on-card-*, card-email-*, card-all-at-once, card-unknown-fields, card-form-refused, card-json-*, card-error-shape, card-record-*, card-charges-rate, card-route-save-*',
      description: 'New cards are active. Their charges are deducted from the amount.',
      body: { schema: messages.CardRequest, examples: examples.cardRequest },
      answers: [{ ...changed, examples: examples.cardCreated }],
      errors: [422],
      handle: async (c, merchant) => {
        const card = await cards.issue(merchant, dialect.readCard(await postedFields(c)));
        return dialect.cardAnswer('created', card);
      },
    },
    {
      method: 'PUT',
      path: paths.cards.toggle,
      summary: 'Activate or block a virtual card',
      lines: 'card-toggle-*, card-block*, card-activate*, card-route-toggle-get',
      description:
        'Succeeds and changes nothing if the card already has this status. A canceled card is rejected.',
      body: { schema: messages.ToggleRequest, examples: examples.toggleRequest },
      answers: [{ ...changed, examples: examples.cardToggled }],
      errors: [404, 409, 422],
      handle: async (c, merchant) => {
        const { cardId: id, action } = dialect.readToggle(await postedFields(c));
        const card = await cards.apply(merchant, id, action);
        return dialect.cardAnswer(action === 'activate' ? 'activated' : 'blocked', card);
      },
    },
    {
      method: 'PUT',
      path: paths.cards.cancel,
      summary: 'Cancel a virtual card',
      lines: 'card-cancel*, card-route-cancel-get',
      description: 'Permanent: a canceled card is rejected.',
      answers: [{ ...changed, examples: examples.cardCanceled }],
      errors: [404, 409, 422],
      handle: async (c, merchant) =>
        dialect.cardAnswer('canceled', await cards.apply(merchant, cardId(c), 'cancel')),
    },
  ];
}

async function postedFields(c: AppContext): Promise<PostedFields> {
  const posted = await readFields(c, { jsonOnly: true });
  c.get('requestLog').requestBody = posted.text;
  return posted;
}
