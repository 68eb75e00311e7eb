import { GatewayError } from '../../contract/error.ts';
import { query } from '../../contract/field.ts';
import { optionalText } from '../../contract/input.ts';
import type { Merchant } from '../../contract/merchant.ts';
import type { PostedFields } from '../../service/body.ts';
import {
  CardRequest,
  cardAnswer,
  cardDetails,
  cardList,
  readCard,
  readCardId,
  readPage,
  readToggle,
  ToggleRequest,
  VirtualCardAnswer,
  VirtualCardDetails,
  VirtualCardList,
} from '../../service/cards.ts';
import { CARD_PATHS } from '../../service/names.ts';
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

function endpointsOf({ cards, store }: AppDependencies): Endpoint[] {
  const changed = { status: 200, schemas: [VirtualCardAnswer] };
  const cardId = (c: AppContext) => readCardId(c.req.param('id') ?? '');
  return [
    {
      method: 'GET',
      path: CARD_PATHS.list,
      summary: 'List virtual cards',
      lines: 'card-list*, card-auth-*, card-route-list-post',
      description: 'Newest first, 15 per page. A page past the end is empty.',
      query: CardListQuery,
      answers: [{ status: 200, schemas: [VirtualCardList] }],
      errors: [422],
      handle: (c, merchant) => {
        const page = readPage(c.req.queries('page')?.at(-1));
        return cardList(cards.of(merchant), page);
      },
    },
    {
      method: 'GET',
      path: CARD_PATHS.read,
      summary: 'Get a virtual card with its transactions',
      lines: 'card-read*, card-transaction-*, card-charged, card-funded, card-route-card-delete',
      description: 'A card of another merchant is not found.',
      answers: [{ status: 200, schemas: [VirtualCardDetails] }],
      errors: [404, 405, 422],
      handle: (c, merchant) => {
        const card = cards.require(cardId(c), merchant);
        return cardDetails(card, store.state.transactionsOf(card.id));
      },
    },
    {
      method: 'POST',
      path: CARD_PATHS.create,
      summary: 'Create a virtual card',
      lines:
        'card-create*, card-amount-*, card-currency-*, card-title-*, card-name-on-card-*, card-email-*, card-all-at-once, card-unknown-fields, card-form-refused, card-json-*, card-error-shape, card-record-*, card-charges-rate, card-route-save-*',
      description: 'New cards are active. Their charges are deducted from the amount.',
      body: { schema: CardRequest },
      answers: [changed],
      errors: [422],
      handle: async (c, merchant) => {
        const card = await cards.issue(merchant, readCard(await postedFields(c)));
        return cardAnswer('created', card);
      },
    },
    {
      method: 'PUT',
      path: CARD_PATHS.toggle,
      summary: 'Activate or block a virtual card',
      lines: 'card-toggle-*, card-block*, card-activate*, card-route-toggle-get',
      description:
        'Succeeds and changes nothing if the card already has this status. A canceled card is rejected.',
      body: { schema: ToggleRequest },
      answers: [changed],
      errors: [404, 409, 422],
      handle: async (c, merchant) => {
        const { cardId: id, action } = readToggle(await postedFields(c));
        const card = await cards.apply(merchant, id, action);
        return cardAnswer(action === 'activate' ? 'activated' : 'blocked', card);
      },
    },
    {
      method: 'PUT',
      path: CARD_PATHS.cancel,
      summary: 'Cancel a virtual card',
      lines: 'card-cancel*, card-route-cancel-get',
      description: 'Permanent: a canceled card is rejected.',
      answers: [changed],
      errors: [404, 409, 422],
      handle: async (c, merchant) => cardAnswer('canceled', await cards.apply(merchant, cardId(c), 'cancel')),
    },
  ];
}

async function postedFields(c: AppContext): Promise<PostedFields> {
  const posted = await readFields(c, { jsonOnly: true });
  c.get('requestLog').requestBody = posted.text;
  return posted;
}
