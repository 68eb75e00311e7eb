import type { CardMovementKind } from '../contract/vocabulary.ts';
import type { CardMoveOptions, Cards } from './api.ts';
import { requireFields, requireReference } from './arguments.ts';
import type { ControlServer } from './control-client.ts';
import { CARD_CALLS, callCard, createCard, readCard } from './merchant-client.ts';
import { requireFilter } from './wait.ts';

/** The virtual cards of an emulator. */
export function cardsOf(server: ControlServer): Cards {
  const change = (what: keyof typeof CARD_CALLS) => async (id: string) =>
    callCard(server, requireReference('a card', id), CARD_CALLS[what]);
  const move = (type: CardMovementKind) => async (id: string, movement: CardMoveOptions) =>
    server.call('POST /cards/:id/transactions', {
      param: { id: requireReference('a card', id) },
      json: { type, ...movement },
    });
  return {
    list: async (filter = {}) => server.call('GET /cards', { query: requireFilter(filter) }),
    get: async (id) => readCard(server, requireReference('a card', id)),
    create: async (fields = {}) => {
      requireFields('the card', fields, ['amount', 'currency', 'title', 'nameOnCard', 'email']);
      return createCard(server, fields);
    },
    activate: change('activate'),
    block: change('block'),
    cancel: change('cancel'),
    charge: move('charge'),
    fund: move('fund'),
  };
}
