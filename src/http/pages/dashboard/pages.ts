import type { Child } from 'hono/jsx';
import { GatewayError } from '../../../contract/error.ts';
import { hint } from '../../../contract/hint.ts';
import { requireCard } from '../../../domain/card.ts';
import { requirePayment } from '../../../domain/payment.ts';
import { requireDelivery } from '../../../domain/resend.ts';
import type { AppContext, AppParts } from '../../environment.ts';
import type { FormValues } from './blocks.tsx';
import { CardPage } from './card.tsx';
import { CardsPage } from './cards.tsx';
import { ClockPage } from './clock.tsx';
import { FaultsPage } from './faults.tsx';
import { InboxPage } from './inbox.tsx';
import { IpnPage } from './ipn.tsx';
import { IpnsPage } from './ipns.tsx';
import { KeysPage } from './keys.tsx';
import { listPath, PLACES, type Place, UI } from './navigation.ts';
import { PaymentPage } from './payment.tsx';
import { PaymentsPage } from './payments.tsx';
import { RequestPage, RequestsPage } from './requests.tsx';

/** A page of the dashboard: where it stands, its address, what it is called, and what is on it. */
export interface Page {
  place: Place;
  path: string;
  title: string;
  content: Child;
}

/** Makes a page; `given` is what a form on it was given, when that was refused. */
export type PageRenderer = (c: AppContext, given: FormValues) => Page;

/**
 * All pages by name; what is called like a place stands at its address.
 *
 * @throws GatewayError `not_found` each, for what is not there
 */
export function pagesOf(parts: AppParts) {
  return { ...listsOf(parts), ...recordsOf(parts), ...simulatorPagesOf(parts) };
}

function listsOf(parts: AppParts) {
  return {
    payments: (c) => {
      const { status, mode, text } = c.req.query();
      const filter = { status, mode, text, cursor: cursorOf(c) };
      const content = PaymentsPage({ parts, filter });
      return { place: 'payments', path: listPath('payments', filter), title: 'Payments', content };
    },
    ipns: (c) => {
      const { state, text } = c.req.query();
      const filter = { state, text, cursor: cursorOf(c) };
      const content = IpnsPage({ parts, filter });
      return { place: 'ipns', path: listPath('ipns', filter), title: 'IPNs', content };
    },
    cards: (c, given) => {
      const cursor = cursorOf(c);
      const content = CardsPage({ parts, cursor, given });
      return { place: 'cards', path: listPath('cards', { cursor }), title: 'Cards', content };
    },
    requests: (c) => {
      const cursor = cursorOf(c);
      const content = RequestsPage({ parts, cursor });
      return { place: 'requests', path: listPath('requests', { cursor }), title: 'Requests', content };
    },
    inbox: (c) => {
      const cursor = cursorOf(c);
      const content = InboxPage({ parts, cursor });
      return { place: 'inbox', path: listPath('inbox', { cursor }), title: 'Inbox', content };
    },
  } satisfies Record<string, PageRenderer>;
}

function recordsOf(parts: AppParts) {
  const { gateway, activity } = parts;
  const id = (c: AppContext) => c.req.param('id') ?? '';
  return {
    payment: (c) => {
      const payment = requirePayment(gateway.state, id(c));
      const path = `${UI}/payments/${payment.id}`;
      const content = PaymentPage({ parts, payment });
      return { place: 'payments', path, title: payment.identifier, content };
    },
    ipn: (c, given) => {
      const delivery = requireDelivery(gateway.state, id(c));
      const path = `${PLACES.ipns.path}/${delivery.id}`;
      const content = IpnPage({ parts, delivery, given });
      return { place: 'ipns', path, title: `IPN of ${delivery.identifier}`, content };
    },
    card: (c, given) => {
      const card = requireCard(gateway.state, id(c));
      const path = `${PLACES.cards.path}/${card.id}`;
      return { place: 'cards', path, title: card.title, content: CardPage({ parts, card, given }) };
    },
    request: (c) => {
      const exchange = activity.exchanges().find((one) => String(one.id) === id(c));
      if (!exchange) {
        throw new GatewayError('not_found', `there is no request ${id(c)} any more`, {
          hint: hint`The last thousand are remembered.`,
        });
      }
      const title = `${exchange.method} ${exchange.target.split('?', 1)[0]}`;
      const path = `${PLACES.requests.path}/${exchange.id}`;
      return { place: 'requests', path, title, content: RequestPage({ parts, exchange }) };
    },
  } satisfies Record<string, PageRenderer>;
}

function simulatorPagesOf(parts: AppParts) {
  const at = (place: Place, content: Child): Page => {
    const { name, path } = PLACES[place];
    return { place, path, title: name, content };
  };
  return {
    keys: (_, given) => at('keys', KeysPage({ parts, given })),
    faults: (_, given) => at('faults', FaultsPage({ parts, given })),
    clock: (_, given) => at('clock', ClockPage({ parts, given })),
  } satisfies Record<string, PageRenderer>;
}

function cursorOf(c: AppContext): string | undefined {
  const cursor = c.req.query('cursor');
  return cursor !== undefined && /^\d{1,10}$/.test(cursor) ? cursor : undefined;
}
