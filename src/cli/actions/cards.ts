import { type CardView, reference } from '../../library/control-client.ts';
import { CARD_CALLS, callCard, callCards, readCard, requireMerchant } from '../../library/merchant-client.ts';
import { connect, type ServerChoice } from '../connect.ts';
import { type CommandResult, pairs, table } from '../output.ts';
import type { CommandContext } from '../program.ts';

/** `gateway-sim cards list` */
export async function list({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const query: Record<string, string> = {};
  for (const name of ['status', 'limit', 'cursor'])
    if (typeof options[name] === 'string') query[name] = options[name];
  if (options['merchant'] !== undefined)
    query['merchant'] = (await requireMerchant(server, String(options['merchant']))).id;
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
export async function show({ args: [id = ''], options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  return shownCard(await readCard(server, id));
}

function shownCard(card: Awaited<ReturnType<typeof readCard>>): CommandResult {
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
export async function create({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const merchant = options['merchant'] === undefined ? undefined : String(options['merchant']);
  const { secretKey } = await requireMerchant(server, merchant);
  const body = {
    currency_code: String(options['currency']),
    title: String(options['title']),
    name_on_card: String(options['nameOnCard']),
    email: String(options['email']),
    amount: String(options['amount']),
  };
  return shownCard(await callCards(server, secretKey, { method: 'POST', path: '/api/cards/save', body }));
}

/** `gateway-sim cards activate` */
export function activate(call: CommandContext): Promise<CommandResult> {
  return change(call, 'activate');
}

/** `gateway-sim cards block` */
export function block(call: CommandContext): Promise<CommandResult> {
  return change(call, 'block');
}

/** `gateway-sim cards cancel` */
export function cancel(call: CommandContext): Promise<CommandResult> {
  return change(call, 'cancel');
}

async function change(
  { args: [id = ''], options }: CommandContext,
  what: keyof typeof CARD_CALLS,
): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  return shownCard(await callCard(server, id, CARD_CALLS[what]));
}

/** `gateway-sim cards charge` */
export function charge(call: CommandContext): Promise<CommandResult> {
  return move(call, 'charge');
}

/** `gateway-sim cards fund` */
export function fund(call: CommandContext): Promise<CommandResult> {
  return move(call, 'fund');
}

async function move(
  { args: [id = ''], options }: CommandContext,
  type: 'charge' | 'fund',
): Promise<CommandResult> {
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
