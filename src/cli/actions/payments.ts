import { setTimeout as sleep } from 'node:timers/promises';
import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { type DeliveryView, type PaymentView, reference } from '../../library/control-client.ts';
import { initiatePayment, paymentIdOf } from '../../library/merchant-client.ts';
import { VERSION } from '../../system/package-info.ts';
import { curlCommand } from '../../wire/curl.ts';
import { connect, type Server, type ServerChoice } from '../connect.ts';
import { storyText } from '../format-timeline.ts';
import { harOf } from '../har.ts';
import { type CommandResult, pairs, table } from '../output.ts';
import type { CommandContext } from '../program.ts';

const OUTCOMES = ['approve', 'cancel', 'fail', 'expire'] as const;
type SettleInput = Parameters<Server['client']['payments'][':ref']['settle']['$post']>[0]['json'];
/** How often `--wait` looks, in real time. */
const POLL_MS = 100;

/** `gateway-sim pay`: settles one pending payment, or all of them. */
export async function pay({ args: [ref], options }: CommandContext): Promise<CommandResult> {
  const chosen = OUTCOMES.filter((outcome) => options[outcome] === true);
  const [outcome] = chosen;
  if (!outcome || chosen.length > 1) {
    const count = outcome ? 'only one' : 'one';
    throw new GatewayError('usage', `pay takes ${count} of --approve, --cancel, --fail or --expire`);
  }
  if (ref !== undefined && options['all'])
    throw new GatewayError('usage', 'pay takes either a payment or --all');
  const awaitDelivery = options['requireDelivery'] === true;
  const input: SettleInput = {
    outcome,
    ...(options['delivery'] !== undefined && { delivery: options['delivery'] as SettleInput['delivery'] }),
    ...(awaitDelivery && { awaitDelivery }),
  };
  const { server, payments } = await choosePayments(ref, options);
  const settled = [];
  for (const { id } of payments) {
    settled.push(
      await server.ask(server.client.payments[':ref'].settle.$post({ param: { ref: id }, json: input })),
    );
  }
  const undelivered = awaitDelivery ? settled.filter(({ delivery }) => delivery?.state !== 'delivered') : [];
  return {
    json: options['all'] ? { data: settled } : settled[0],
    text: settled.map(settledText).join('\n\n') || 'No payment is pending.',
    ...(undelivered.length && {
      failure: `gateway-sim: ${undelivered.length} of ${settled.length} IPNs not delivered at the first attempt`,
    }),
  };
}

type Settled = Awaited<ReturnType<typeof settleOne>>;
function settleOne(server: Server, ref: string, json: SettleInput) {
  return server.ask(server.client.payments[':ref'].settle.$post({ param: { ref }, json }));
}

function settledText({ payment, delivery, redirectUrl }: Settled): string {
  const attempt = delivery?.attempts.at(-1);
  const outcome = attempt?.error ?? (attempt ? `answered ${attempt.responseStatus}` : 'no attempt yet');
  return pairs([
    ['Payment', `${payment.id}  (${payment.identifier})`],
    ['Status', payment.status],
    ['Amount', `${payment.amount} ${payment.currency}  ${payment.mode}`],
    ['IPN', delivery ? `${delivery.state}: POST ${delivery.url}: ${outcome}` : 'none sent'],
    ['Redirect', redirectUrl ?? 'none: the browser stays'],
  ]);
}

/** The payments to settle; with --wait this goes on looking for server and payment until the time is up. */
async function choosePayments(
  ref: string | undefined,
  options: CommandContext['options'],
): Promise<{ server: Server; payments: PaymentView[] }> {
  const wait = options['wait'] as number | undefined;
  const deadline = performance.now() + (wait ?? 0);
  for (;;) {
    try {
      const server = await connect(options as ServerChoice);
      const payments = await pendingPayments(server, ref, options['all'] === true);
      if (payments.length || options['all']) return { server, payments };
      throw new GatewayError('not_found', 'no payment is pending', {
        hint: hint`${command('payments create')} makes one; --wait waits for one.`,
      });
    } catch (error) {
      const code = error instanceof GatewayError ? error.code : undefined;
      const mayChange = code === 'no_server' || code === 'not_found';
      if (!mayChange || wait === undefined || performance.now() >= deadline) throw error;
    }
    await sleep(POLL_MS);
  }
}

async function pendingPayments(
  server: Server,
  ref: string | undefined,
  all: boolean,
): Promise<PaymentView[]> {
  if (ref !== undefined) {
    return [await server.ask(server.client.payments[':ref'].$get({ param: { ref: reference(ref) } }))];
  }
  const pending: PaymentView[] = [];
  let cursor: string | null = null;
  do {
    const query: Record<string, string> = { status: 'pending', limit: all ? '1000' : '1' };
    if (cursor) query['cursor'] = cursor;
    const page: { data: PaymentView[]; nextCursor: string | null } = await server.ask(
      server.client.payments.$get({ query }),
    );
    pending.push(...page.data);
    cursor = all ? page.nextCursor : null;
  } while (cursor);
  return pending;
}

/** `gateway-sim payments list` */
export async function list({ options }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const query: Record<string, string> = {};
  for (const name of ['status', 'mode', 'identifier', 'limit', 'cursor']) {
    if (typeof options[name] === 'string') query[name] = options[name];
  }
  const page = await server.ask(server.client.payments.$get({ query }));
  const rows = page.data.map(({ id, identifier, mode, status, amount, currency, createdAt }) => [
    createdAt.slice(0, 19).replace('T', ' '),
    identifier,
    `${amount} ${currency}`,
    mode,
    status,
    id,
  ]);
  return {
    json: page,
    text: table(['Created (UTC)', 'Identifier', 'Amount', 'Mode', 'Status', 'Payment'], rows),
    notices: [
      ...(page.data.length ? [] : ['No payments. Make one with: gateway-sim payments create']),
      ...(page.nextCursor ? [`More with: --cursor ${page.nextCursor}`] : []),
    ],
  };
}

/** `gateway-sim payments show`: the record and its story, or its deliveries for other tools. */
export async function show({ args: [ref = ''], options }: CommandContext): Promise<CommandResult> {
  if (options['curl'] && options['har'])
    throw new GatewayError('usage', 'payments show takes --curl or --har, not both');
  const server = await connect(options as ServerChoice);
  const payment = await server.ask(server.client.payments[':ref'].$get({ param: { ref: reference(ref) } }));
  if (options['curl']) return shownAsCurl(await deliveriesOf(server, payment.id));
  if (options['har']) {
    const har = harOf(await deliveriesOf(server, payment.id), VERSION);
    return { json: har, text: JSON.stringify(har, undefined, 2) };
  }
  const { timeline, warnings: _, ...record } = payment;
  const facts = Object.entries(record).map(([name, value]): [string, string] => [name, String(value ?? '-')]);
  return { json: payment, text: [pairs(facts), '', storyText(timeline)].join('\n') };
}

/** The deliveries of a payment, oldest first. */
async function deliveriesOf(server: Server, payment: string): Promise<DeliveryView[]> {
  const page = await server.ask(server.client.ipns.$get({ query: { payment, limit: '1000' } }));
  return page.data.toReversed();
}

function shownAsCurl(deliveries: readonly DeliveryView[]): CommandResult {
  const commands = deliveries.map((delivery) => ({ delivery: delivery.id, curl: curlCommand(delivery) }));
  return {
    json: { data: commands, nextCursor: null },
    text: commands.map(({ curl }) => curl).join('\n\n'),
    notices: commands.length ? [] : ['This payment has no IPN yet: settling it sends one.'],
  };
}

/** `gateway-sim payments create`: initiates as a merchant would, over the service's own route. */
export async function create({ options, output }: CommandContext): Promise<CommandResult> {
  const server = await connect(options as ServerChoice);
  const given = (name: string) => (options[name] === undefined ? undefined : String(options[name]));
  const url = await initiatePayment(server, options['live'] === true ? 'live' : 'sandbox', {
    identifier: given('identifier'),
    currency: given('currency'),
    amount: given('amount'),
    details: given('details'),
    ipn_url: given('ipnUrl'),
    success_url: given('successUrl'),
    cancel_url: given('cancelUrl'),
    site_logo: given('siteLogo'),
    customer_name: given('customerName'),
    customer_email: given('customerEmail'),
    checkout_theme: given('theme'),
  });
  if (options['open'] === true) {
    const { default: open } = await import('open');
    await open(url).catch(() => output.notice(`No browser could be opened: go to ${url}`));
  }
  const id = paymentIdOf(url);
  const payment = await server.ask(server.client.payments[':ref'].$get({ param: { ref: id } }));
  const { timeline: _, ...record } = payment;
  return {
    json: record,
    text: url,
    notices: [
      ...payment.warnings.map((warning) => `! ${warning}`),
      `Pay it there, or with: gateway-sim pay ${id} --approve`,
    ],
  };
}
