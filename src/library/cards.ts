import type { CardAction, CardMovementKind } from '../contract/vocabulary.ts';
import type { CardMoveOptions, Cards } from './api.ts';
import { requireFields, requireReference } from './arguments.ts';
import type { ControlServer } from './control-client.ts';
import { changeCard, createCard, dialect, readCard } from './merchant-client.ts';
import { requireFilter } from './wait.ts';

export function cardsOf(server: ControlServer): Cards {
  const named = (id: string) => requireReference('a card', id);
  const change = (action: CardAction) => async (id: string) => changeCard(server, named(id), action);
  const move = (type: CardMovementKind) => async (id: string, movement: CardMoveOptions) =>
    server.call('POST /cards/:id/transactions', { param: { id: named(id) }, json: { type, ...movement } });
  return {
    list: async (filter = {}) => server.call('GET /cards', { query: requireFilter(filter) }),
    get: async (id) => readCard(server, named(id)),
    create: async (fields = {}) => {
      requireFields('the card', fields, dialect.cardFields);
      return createCard(server, fields);
    },
    activate: change('activate'),
    block: change('block'),
    cancel: change('cancel'),
    charge: move('charge'),
    fund: move('fund'),
  };
}
