import { randomBytes } from 'node:crypto';
import type { Hono } from 'hono';
import type { Child } from 'hono/jsx';
import { CARD_TRIGGERS, type CardTrigger, requireCard } from '../../domain/card.ts';
import { GatewayError } from '../../domain/error.ts';
import { FaultRule } from '../../domain/fault.ts';
import { requireDelivery, requireTampering } from '../../domain/fire.ts';
import { defaultMerchant } from '../../domain/merchant.ts';
import { requirePayment } from '../../domain/payment.ts';
import { readFields } from '../body.ts';
import { ClockInput, moveClock } from '../control/clock.ts';
import { clearFaults, setFault } from '../control/faults.ts';
import { SettleInput } from '../control/payments.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { asGatewayError, statusOf } from '../errors.ts';
import { parseInput } from '../input.ts';
import { CardPage, CardsPage } from './cards.tsx';
import { Missing, type Place, type Problem, renderPage, UI } from './frame.tsx';
import { IpnPage, IpnsPage } from './ipns.tsx';
import { KeysPage } from './keys.tsx';
import { PaymentPage, PaymentsPage } from './payments.tsx';
import { referencePage } from './reference.tsx';
import { InboxPage, RequestPage, RequestsPage } from './requests.tsx';
import { LIVE_SCRIPT } from './script.ts';
import { ClockPage, FaultsPage } from './trouble.tsx';

type Fields = Readonly<Record<string, string>>;

/** A page of the dashboard: where it stands, what it is called, and what is on it. */
interface Page {
  place: Place;
  title: string;
  content: Child;
}
type Show = (c: AppContext) => Page;
/** What a form does; gives the address that the browser goes to. */
type Act = (c: AppContext, fields: Fields) => Promise<string>;

/** Mounts the dashboard: its pages, and what their forms do. Both live here only, apart from the JSON routes. */
export function mountDashboard(app: Hono<AppEnvironment>, parts: AppParts): void {
  const page = (path: string, show: Show) =>
    app.get(path, (c) => {
      try {
        return render(c, parts, show(c), null);
      } catch (thrown) {
        return failed(c, parts, missing, thrown);
      }
    });
  const action = (path: string, show: Show, act: Act) =>
    app.post(path, async (c) => {
      try {
        const { fields } = await readFields(c);
        return c.redirect(await act(c, asText(fields)), 303);
      } catch (thrown) {
        return failed(c, parts, show, thrown);
      }
    });
  const pages = pagesOf(parts);
  page('/_sim', pages.payments);
  page(`${UI}/payments/:id`, pages.payment);
  page(`${UI}/ipns`, pages.ipns);
  page(`${UI}/ipns/:id`, pages.ipn);
  page(`${UI}/cards`, pages.cards);
  page(`${UI}/cards/:id`, pages.card);
  page(`${UI}/keys`, pages.keys);
  page(`${UI}/requests`, pages.requests);
  page(`${UI}/requests/:id`, pages.request);
  page(`${UI}/inbox`, pages.inbox);
  page(`${UI}/faults`, pages.faults);
  page(`${UI}/clock`, pages.clock);
  const acts = actionsOf(parts);
  action(`${UI}/payments/:id/settle`, pages.payment, acts.settle);
  action(`${UI}/ipns/:id/resend`, pages.ipn, acts.resend);
  action(`${UI}/ipns/:id/tamper`, pages.ipn, acts.tamper);
  action(`${UI}/cards`, pages.cards, acts.createCard);
  for (const kind of ['charge', 'fund'] as const)
    action(`${UI}/cards/:id/${kind}`, pages.card, acts.moveCard(kind));
  for (const trigger of CARD_TRIGGERS)
    action(`${UI}/cards/:id/${trigger}`, pages.card, acts.triggerCard(trigger));
  action(`${UI}/keys`, pages.keys, acts.generateKeys);
  action(`${UI}/merchants`, pages.keys, acts.addMerchant);
  action(`${UI}/faults`, pages.faults, acts.setFault);
  action(`${UI}/faults/clear`, pages.faults, acts.clearFaults);
  action(`${UI}/clock`, pages.clock, acts.moveClock);
  app.get(`${UI}/reference`, async (c) => c.html(await referencePage(parts, dashboardHeaders(c))));
  app.get(`${UI}/live.js`, (c) => {
    c.header('Cache-Control', 'no-cache');
    c.header('X-Content-Type-Options', 'nosniff');
    return c.body(LIVE_SCRIPT, 200, { 'Content-Type': 'text/javascript; charset=utf-8' });
  });
}

/** Stands in for a page of something that is not there. */
const missing: Show = () => ({ place: 'payments', title: 'Not there', content: Missing() });

/** The page with what went wrong over it; a fault of ours goes to the log. */
function failed(c: AppContext, parts: AppParts, show: Show, thrown: unknown): Response {
  const error = asGatewayError(thrown);
  if (error.code === 'internal') throw thrown;
  const failure = { error, status: statusOf(error) };
  try {
    return render(c, parts, show(c), failure);
  } catch {
    // What the form was about is gone, and its page with it.
    return render(c, parts, missing(c), failure);
  }
}

function render(
  c: AppContext,
  parts: AppParts,
  { place, title, content }: Page,
  failure: { error: GatewayError; status: number } | null,
): Response {
  const problem: Problem | null = failure && {
    message: failure.error.problems.join('. '),
    remedy: failure.error.remedy,
  };
  const html = renderPage(parts, dashboardHeaders(c), { place, title, problem, children: content });
  return c.html(html, (failure?.status ?? 200) as 200);
}

/** The headers that keep a page of the dashboard to itself; gives the nonce of its styles. */
export function dashboardHeaders(c: AppContext): string {
  const nonce = randomBytes(16).toString('base64');
  c.header(
    'Content-Security-Policy',
    `default-src 'none'; style-src 'nonce-${nonce}'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  );
  c.header('Referrer-Policy', 'same-origin');
  c.header('X-Content-Type-Options', 'nosniff');
  c.header('Cache-Control', 'no-store');
  return nonce;
}

function asText(fields: Readonly<Record<string, unknown>>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
}

function pagesOf(parts: AppParts) {
  const { gateway, activity } = parts;
  const id = (c: AppContext) => c.req.param('id') ?? '';
  return {
    payments: (c) => {
      const { status, mode, text } = c.req.query();
      const filter = { status, mode, text, cursor: cursorOf(c) };
      return { place: 'payments', title: 'Payments', content: PaymentsPage({ parts, filter }) };
    },
    payment: (c) => {
      const payment = requirePayment(gateway.state, id(c));
      return { place: 'payments', title: payment.identifier, content: PaymentPage({ parts, payment }) };
    },
    ipns: (c) => {
      const filter = { state: c.req.query('state'), cursor: cursorOf(c) };
      return { place: 'ipns', title: 'IPNs', content: IpnsPage({ parts, filter }) };
    },
    ipn: (c) => {
      const delivery = requireDelivery(gateway.state, id(c));
      const title = `IPN of ${delivery.identifier}`;
      return { place: 'ipns', title, content: IpnPage({ parts, delivery }) };
    },
    cards: (c) => ({
      place: 'cards',
      title: 'Cards',
      content: CardsPage({ parts, cursor: cursorOf(c) }),
    }),
    card: (c) => {
      const card = requireCard(gateway.state, id(c));
      return { place: 'cards', title: card.title, content: CardPage({ parts, card }) };
    },
    keys: () => ({ place: 'keys', title: 'Api Key', content: KeysPage({ parts }) }),
    requests: () => ({ place: 'requests', title: 'Requests', content: RequestsPage({ parts }) }),
    request: (c) => {
      const exchange = activity.exchanges().find((one) => String(one.id) === id(c));
      if (!exchange) {
        throw new GatewayError('not_found', `there is no request ${id(c)} any more`, {
          remedy: 'The last thousand are remembered.',
        });
      }
      const title = `${exchange.method} ${exchange.target.split('?', 1)[0]}`;
      return { place: 'requests', title, content: RequestPage({ parts, exchange }) };
    },
    inbox: () => ({ place: 'inbox', title: 'Inbox', content: InboxPage({ parts }) }),
    faults: () => ({ place: 'faults', title: 'Faults', content: FaultsPage({ parts }) }),
    clock: () => ({ place: 'clock', title: 'Clock', content: ClockPage({ parts }) }),
  } satisfies Record<string, Show>;
}

function cursorOf(c: AppContext): string | undefined {
  const cursor = c.req.query('cursor');
  return cursor !== undefined && /^\d{1,10}$/.test(cursor) ? cursor : undefined;
}

function actionsOf(parts: AppParts) {
  const { gateway, cards } = parts;
  const id = (c: AppContext) => c.req.param('id') ?? '';
  return {
    settle: async (c, { outcome, delivery }) => {
      const input = parseInput(SettleInput, { outcome, ...(delivery && { delivery }) });
      const { payment } = await gateway.settle(id(c), { ...input, by: 'control' });
      return `${UI}/payments/${payment.id}`;
    },
    resend: async (c, { to, from }) => {
      const sent = await gateway.resend(id(c), to || undefined);
      return to ? `${UI}/ipns/${sent.id}` : ownPage(from, `${UI}/ipns/${sent.id}`);
    },
    tamper: async (c, { tamper = '' }) => {
      const { paymentId, url } = requireDelivery(gateway.state, id(c));
      const [fired] = await gateway.fire({
        ...(paymentId !== null && { payment: paymentId }),
        to: url,
        tamper: requireTampering(tamper),
      });
      return `${UI}/ipns/${fired?.id ?? id(c)}`;
    },
    createCard: async (_, fields) => {
      const card = await cards.issue(defaultMerchant(gateway.state), { fields });
      return `${UI}/cards/${card.id}`;
    },
    moveCard: (kind: 'charge' | 'fund'): Act => {
      return async (c, { amount = '', details }) => {
        await cards.move(id(c), kind, { amount: amount.trim(), ...(details && { details }) });
        return `${UI}/cards/${id(c)}`;
      };
    },
    triggerCard: (trigger: CardTrigger): Act => {
      return async (c) => {
        const { merchantId } = requireCard(gateway.state, id(c));
        const merchant = gateway.state.merchants.get(merchantId) ?? defaultMerchant(gateway.state);
        await cards.trigger(merchant, id(c), trigger);
        return `${UI}/cards/${id(c)}`;
      };
    },
    generateKeys: async (_, { merchant = '' }) => {
      await gateway.replaceKeys(merchant || defaultMerchant(gateway.state).id);
      return `${UI}/keys`;
    },
    addMerchant: async (_, { name = '' }) => {
      await gateway.addMerchant(name);
      return `${UI}/keys`;
    },
    setFault: async (_, fields) => {
      setFault(parts, parseInput(FaultRule, faultRule(fields)));
      return `${UI}/faults`;
    },
    clearFaults: async (_, { route }) => {
      clearFaults(parts, route || undefined);
      return `${UI}/faults`;
    },
    moveClock: async (_, { move, by }) => {
      const input = { advance: { advance: by }, freeze: { freeze: 'now' }, resume: { resume: true } };
      const chosen = Object.hasOwn(input, move ?? '') ? input[move as keyof typeof input] : {};
      await moveClock(parts, parseInput(ClockInput, chosen));
      return `${UI}/clock`;
    },
  } satisfies Record<string, Act | ((kind: never) => Act)>;
}

/** Back to the page of ours that a form stood on; never anywhere else. */
function ownPage(from: string | undefined, otherwise: string): string {
  return from !== undefined && /^\/_sim(\/ui\/[\w/-]*)?$/.test(from) ? from : otherwise;
}

function faultRule({ route, effect = '', value = '', times, identifier }: Fields): object {
  const effects: Record<string, unknown> = { status: Number(value), latency: value };
  return {
    route,
    [effect]: effects[effect] ?? true,
    ...(times && { times: Number(times) }),
    ...(identifier && { identifier }),
  };
}
