import type { CardView } from '../../client.ts';
import { noServer, reference } from '../../client.ts';
import { type ErrorCode, GatewayError } from '../../domain/error.ts';
import { connect, type Server, type ServerChoice } from '../connect.ts';
import { pairs, type Shown, table } from '../output.ts';
import type { Call } from '../program.ts';
import { requireMerchant } from './simulator.ts';

/** `gateway-sim cards list` */
export async function list({ options }: Call): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  const query: Record<string, string> = {};
  for (const name of ['status', 'limit', 'cursor'])
    if (typeof options[name] === 'string') query[name] = options[name];
  if (options['merchant'] !== undefined)
    query['merchant'] = (await requireMerchant(server, options['merchant'])).id;
  const page = await server.ask(server.client.cards.$get({ query }));
  const rows = page.data.map(({ id, maskedNumber, title, availableBalance, currency, status }) => [
    id,
    maskedNumber,
    title,
    `${availableBalance} ${currency}`,
    status,
  ]);
  return {
    json: page,
    text: table(['Card', 'Number', 'Title', 'Balance', 'Status'], rows),
    notices: [
      ...(page.data.length ? [] : ['No cards. Make one with: gateway-sim cards create']),
      ...(page.nextCursor ? [`More with: --cursor ${page.nextCursor}`] : []),
    ],
  };
}

/** `gateway-sim cards show` */
export async function show({ args: [id = ''], options }: Call): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  return shownCard(await readCard(server, id));
}

function readCard(server: Server, id: string) {
  return server.ask(server.client.cards[':id'].$get({ param: { id: reference(id) } }));
}

function shownCard(card: Awaited<ReturnType<typeof readCard>>): Shown {
  const { transactions, maskedNumber: _, ...record } = card;
  const facts = Object.entries(record).map(([name, value]): [string, string] => [name, String(value)]);
  const rows = transactions.map(({ createdAt, type, amount, charge, currency, details }) => [
    createdAt.slice(0, 19).replace('T', ' '),
    `${type}${amount} ${currency}`,
    charge,
    details,
  ]);
  const activity = table(['At (UTC)', 'Amount', 'Charge', 'Details'], rows);
  return { json: card, text: activity ? `${pairs(facts)}\n\n${activity}` : pairs(facts) };
}

/** `gateway-sim cards create`: over the service's own route, as a merchant would. */
export async function create({ options }: Call): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  const body = {
    currency_code: String(options['currency']),
    title: String(options['title']),
    name_on_card: String(options['nameOnCard']),
    email: String(options['email']),
    amount: String(options['amount']),
  };
  const id = await callService(server, options, 'POST', '/api/cards/save', body);
  return shownCard(await readCard(server, id));
}

/** `gateway-sim cards activate` */
export function activate(call: Call): Promise<Shown> {
  return toggle(call, true);
}

/** `gateway-sim cards block` */
export function block(call: Call): Promise<Shown> {
  return toggle(call, false);
}

async function toggle({ args: [id = ''], options }: Call, active: boolean): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  const { merchantId } = await readCard(server, id);
  await callService(server, { merchant: merchantId }, 'PUT', '/api/cards/toggle', { card_id: id, active });
  return shownCard(await readCard(server, id));
}

/** `gateway-sim cards cancel` */
export async function cancel({ args: [id = ''], options }: Call): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  const { merchantId } = await readCard(server, id);
  await callService(server, { merchant: merchantId }, 'PUT', `/api/cards/cancel/${reference(id)}`);
  return shownCard(await readCard(server, id));
}

/** Calls a card route with the secret key of the card's merchant and gives the id of the card that it answers. */
async function callService(
  server: Server,
  { merchant: name }: Readonly<Record<string, unknown>>,
  method: 'POST' | 'PUT',
  path: string,
  body?: object,
): Promise<string> {
  const { secretKey } = await requireMerchant(server, name);
  const response = await fetch(`${server.url}${path}`, {
    method,
    headers: { Authorization: `Bearer ${secretKey}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw noServer(server.url, error);
  });
  const answer = (await response.json().catch(() => ({}))) as Partial<ServiceAnswer>;
  if (response.ok && answer.data) return answer.data.id;
  const { message = `${method} ${path} was answered ${response.status}`, errors = [message] } = answer;
  throw new GatewayError(CODE_OF_STATUS.get(response.status) ?? 'check_failed', message, {
    problems: errors,
  });
}

interface ServiceAnswer {
  data: { id: string };
  message: string;
  errors: string[];
}

/** The service's own routes tell no code; anything else, such as an injected fault, fails the command. */
const CODE_OF_STATUS: ReadonlyMap<number, ErrorCode> = new Map([
  [401, 'unauthorized'],
  [404, 'not_found'],
  [409, 'wrong_state'],
  [422, 'invalid_fields'],
]);

/** `gateway-sim cards charge` */
export function charge(call: Call): Promise<Shown> {
  return move(call, 'charge');
}

/** `gateway-sim cards fund` */
export function fund(call: Call): Promise<Shown> {
  return move(call, 'fund');
}

async function move({ args: [id = ''], options }: Call, type: 'charge' | 'fund'): Promise<Shown> {
  const server = await connect(options as ServerChoice);
  const json = {
    type,
    amount: String(options['amount']),
    ...(options['details'] !== undefined && { details: String(options['details']) }),
    ...(options['currency'] !== undefined && { currency: String(options['currency']) }),
  };
  const moved = await server.ask(
    server.client.cards[':id'].transactions.$post({ param: { id: reference(id) }, json }),
  );
  return { json: moved, text: movedText(moved.card, moved.transaction) };
}

function movedText(
  card: CardView,
  {
    type,
    amount,
    charge: charged,
    details,
  }: { type: string; amount: string; charge: string; details: string },
): string {
  return pairs([
    ['Card', `${card.id}  ${card.maskedNumber}`],
    ['Amount', `${type}${amount} ${card.currency}  charge ${charged}`],
    ['Details', details || '-'],
    ['Balance', `${card.availableBalance} ${card.currency}`],
  ]);
}
