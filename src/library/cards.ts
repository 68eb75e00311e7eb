import type { CardMovement, Cards } from '../api.ts';
import { requireFields, segment } from './arguments.ts';
import type { ControlServer } from './control-client.ts';
import { CARD_CALLS, callCard, callCards, readCard, requireMerchant } from './merchant-client.ts';
import { queryOf } from './query.ts';

/** The virtual cards of an emulator. */
export function cardsOf(server: ControlServer): Cards {
  const routes = server.client.cards;
  const change = (what: keyof typeof CARD_CALLS) => async (id: string) => {
    segment('a card', id);
    return callCard(server, id, CARD_CALLS[what]);
  };
  const move = (type: 'charge' | 'fund') => async (id: string, movement: CardMovement) =>
    server.ask(
      routes[':id'].transactions.$post({ param: { id: segment('a card', id) }, json: { type, ...movement } }),
    );
  return {
    list: async (filter = {}) => server.ask(routes.$get({ query: queryOf(filter) })),
    get: async (id) => {
      segment('a card', id);
      return readCard(server, id);
    },
    create: async (fields = {}) => {
      requireFields('the card', fields, ['amount', 'currency', 'title', 'nameOnCard', 'email']);
      const { secretKey } = await requireMerchant(server, undefined);
      const body = {
        currency_code: fields.currency ?? 'USD',
        title: fields.title ?? 'Test card',
        name_on_card: fields.nameOnCard ?? 'Ada Example',
        email: fields.email ?? 'ada@example.com',
        amount: fields.amount ?? '100.00',
      };
      return callCards(server, secretKey, { method: 'POST', path: '/api/cards/save', body });
    },
    activate: change('activate'),
    block: change('block'),
    cancel: change('cancel'),
    charge: move('charge'),
    fund: move('fund'),
  };
}
