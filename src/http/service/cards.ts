import type { Hono } from 'hono';
import { GatewayError } from '../../contract/error.ts';
import type { Merchant } from '../../contract/merchant.ts';
import type { PostedFields } from '../../wire/body.ts';
import { readJsonBody } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { bearer } from '../guard.ts';

/** Last words of the other routes' paths, which are no ids, and the method that they answer. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['save', 'POST'],
  ['toggle', 'PUT'],
  ['cancel', 'PUT'],
]);

/** Mounts the five card endpoints. */
export function mountCards(app: Hono<AppEnvironment>, { cards, merchants, dialect }: AppParts): void {
  const { paths } = dialect;
  /** The merchant whose secret key the request carries; checked before anything else of it is read. */
  const merchantOf = (c: AppContext): Merchant => merchants.requireBySecretKey(bearer(c));
  const cardId = (c: AppContext) => dialect.readCardId(c.req.param('id') ?? '');
  app.get(paths.cards.list, (c) => {
    const merchant = merchantOf(c);
    const page = dialect.readPage(c.req.queries('page')?.at(-1));
    return answer(c, dialect.cardList(cards.page(merchant, page)));
  });
  app.post(paths.cards.create, async (c) => {
    const merchant = merchantOf(c);
    const card = await cards.issue(merchant, dialect.readCard(await postedFields(c)));
    return answer(c, dialect.cardAnswer('created', card));
  });
  app.put(paths.cards.toggle, async (c) => {
    const merchant = merchantOf(c);
    const { cardId: id, action } = dialect.readToggle(await postedFields(c));
    const card = await cards.apply(merchant, id, action);
    return answer(c, dialect.cardAnswer(action === 'activate' ? 'activated' : 'blocked', card));
  });
  app.put(paths.cards.cancel, async (c) => {
    const card = await cards.apply(merchantOf(c), cardId(c), 'cancel');
    return answer(c, dialect.cardAnswer('canceled', card));
  });
  app.get(paths.cards.read, (c) => {
    refuseReserved(c);
    const merchant = merchantOf(c);
    const card = cards.require(cardId(c), merchant);
    return answer(c, dialect.cardDetails(card, cards.transactions(card)));
  });
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
