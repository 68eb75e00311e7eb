import type { Hono } from 'hono';
import type { CardTransaction } from '../../contract/card.ts';
import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import type { Merchant } from '../../contract/merchant.ts';
import { maskedCardNumber, parseCardMessage, requireCard, ToggleRequest } from '../../domain/card.ts';
import { findByPublicKey, findBySecretKey } from '../../domain/merchant.ts';
import type { Card } from '../../domain/state.ts';
import { CARDS_PER_PAGE } from '../../usecases/cards.ts';
import { amountSource, type PostedFields, readJsonBody } from '../body.ts';
import type { AppContext, AppEnvironment, AppParts } from '../environment.ts';
import { bearer } from '../guard.ts';

/** Paths of the card endpoints (documented). */
export const CARD_PATHS = {
  list: '/api/cards',
  create: '/api/cards/save',
  read: '/api/cards/:id',
  toggle: '/api/cards/toggle',
  cancel: '/api/cards/cancel/:id',
} as const;

/** Words of the other routes that stand where an id would, and the method that they do answer. */
const RESERVED: ReadonlyMap<string, string> = new Map([
  ['save', 'POST'],
  ['toggle', 'PUT'],
  ['cancel', 'PUT'],
]);

/** Mounts the five card endpoints. Cards exist in live mode only (documented). */
export function mountCards(app: Hono<AppEnvironment>, { gateway, cards }: AppParts): void {
  const merchantOf = (c: AppContext) => requireMerchant(c, gateway.state);
  app.get(CARD_PATHS.list, (c) => {
    const { cards: records, ...page } = cards.page(merchantOf(c), pageNumber(c));
    return answer(c, {
      success: 'ok',
      data: records.map(cardRecord),
      current_page: page.page,
      per_page: CARDS_PER_PAGE,
      last_page: page.lastPage,
      total: page.total,
    });
  });
  app.post(CARD_PATHS.create, async (c) => {
    const merchant = merchantOf(c);
    const { fields, text } = await postedFields(c);
    const card = await cards.issue(merchant, { fields, ...amountSource(fields, text) });
    return answer(c, done('Virtual card created.', card));
  });
  app.put(CARD_PATHS.toggle, async (c) => {
    const merchant = merchantOf(c);
    const { card_id: id, active } = parseCardMessage(ToggleRequest, await postedFields(c));
    const card = await cards.trigger(merchant, id, active ? 'activate' : 'block');
    return answer(c, done(active ? 'Virtual card activated.' : 'Virtual card blocked.', card));
  });
  app.put(CARD_PATHS.cancel, async (c) => {
    const card = await cards.trigger(merchantOf(c), cardId(c), 'cancel');
    return answer(c, done('Virtual card canceled.', card));
  });
  app.get(CARD_PATHS.read, (c) => {
    refuseReserved(c);
    const merchant = merchantOf(c);
    const card = requireCard(gateway.state, cardId(c), merchant);
    const transactions = gateway.state.transactionsOf(card.id).map(transactionRecord);
    return answer(c, {
      success: 'ok',
      message: 'Virtual card found.',
      data: { ...cardRecord(card), transactions },
    });
  });
}

function answer(c: AppContext, body: object): Response {
  c.get('exchange').responseBody = JSON.stringify(body);
  return c.json(body);
}

function done(message: string, card: Card) {
  return { success: 'ok', message, data: cardRecord(card) };
}

async function postedFields(c: AppContext): Promise<PostedFields> {
  const posted = await readJsonBody(c);
  c.get('exchange').requestBody = posted.text;
  return posted;
}

/** GET on the path of another route is a wrong method, whoever asks, and never a card. */
function refuseReserved(c: AppContext): void {
  const method = RESERVED.get(c.req.param('id') ?? '');
  if (method === undefined) return;
  throw new GatewayError('method_not_allowed', `${c.req.path} does not answer GET: use ${method}`, {
    allow: [method],
  });
}

/** The merchant whose secret key the request carries; checked before anything else of it is read. */
function requireMerchant(c: AppContext, state: AppParts['gateway']['state']): Merchant {
  const key = bearer(c);
  if (key === undefined) {
    throw new GatewayError(
      'unauthorized',
      'the header Authorization: Bearer <secret key> is missing or malformed',
    );
  }
  const merchant = findBySecretKey(state, key);
  if (merchant) return merchant;
  throw new GatewayError('unauthorized', 'Invalid api key', {
    hint: findByPublicKey(state, key)
      ? hint`lint: the public key was sent as the bearer token; cards need the secret key`
      : hint`${command('keys show')} prints the keys of this emulator; keys generate replaces them`,
  });
}

const MAX_CARD_ID = 40;

function cardId(c: AppContext): string {
  const id = c.req.param('id') ?? '';
  if ([...id].length <= MAX_CARD_ID) return id;
  throw new GatewayError('invalid_fields', `card_id may have at most ${MAX_CARD_ID} characters`);
}

/** A page past the end is empty; one that `current_page` could not repeat exactly is refused (chosen). */
function pageNumber(c: AppContext): number {
  const text = c.req.queries('page')?.at(-1) ?? '1';
  if (/^\d{1,15}$/.test(text) && Number(text) > 0) return Number(text);
  throw new GatewayError(
    'invalid_fields',
    `page must be a positive integer of at most 15 digits (got "${text.slice(0, 40)}")`,
  );
}

/** ISO 8601 UTC with microseconds and Z (documented); our clock counts milliseconds. */
function microseconds(at: string): string {
  return at.replace('Z', '000Z');
}

/** A card as section 2.1 of the service interface has it; money is a JSON number there. */
export function cardRecord(card: Card) {
  return {
    id: card.id,
    amount: Number(card.amount),
    charges: Number(card.charges),
    available_balance: Number(card.availableBalance),
    title: card.title,
    masked_card_number: maskedCardNumber(card.number),
    card_number: card.number,
    name_on_card: card.nameOnCard,
    email: card.email,
    cvc: card.cvc,
    expiry_month: card.expiryMonth,
    expiry_year: card.expiryYear,
    status: card.status,
    created_at: microseconds(card.createdAt),
    updated_at: microseconds(card.updatedAt),
    currency: card.currency,
  };
}

/** A transaction as section 2.2 of the service interface has it. */
export function transactionRecord(transaction: CardTransaction) {
  return {
    id: transaction.id,
    currency_code: transaction.currency,
    before_charge: Number(transaction.beforeCharge),
    amount: Number(transaction.amount),
    charge: Number(transaction.charge),
    type: transaction.type,
    details: transaction.details,
    remark: transaction.remark,
    created_at: microseconds(transaction.createdAt),
    updated_at: microseconds(transaction.updatedAt),
  };
}
