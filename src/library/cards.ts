import type { Cards } from '../api.ts';
import { type ControlServer, reference } from '../client.ts';
import { CARD_CALLS, callCard, callCards, readCard, requireMerchant } from '../service.ts';
import { queryOf } from './query.ts';

/** The virtual cards of an emulator. */
export function cardsOf(server: ControlServer): Cards {
  const routes = server.client.cards;
  const change = (what: keyof typeof CARD_CALLS) => (id: string) => callCard(server, id, CARD_CALLS[what]);
  const move = (type: 'charge' | 'fund') => (id: string, movement: Parameters<Cards['charge']>[1]) =>
    server.ask(
      routes[':id'].transactions.$post({ param: { id: reference(id) }, json: { type, ...movement } }),
    );
  return {
    list: (filter = {}) => server.ask(routes.$get({ query: queryOf(filter) })),
    get: (id) => readCard(server, id),
    create: async (fields = {}) => {
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
