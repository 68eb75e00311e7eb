import { curlCommand } from '../../contract/curl.ts';
import type { Delivery } from '../../contract/delivery.ts';
import { describeAttempts } from '../../contract/describe-delivery.ts';
import { command, GatewayError, type Hint, hint, usage } from '../../contract/error.ts';
import type { Payment, PaymentFilter, Settled, SettleInput } from '../../contract/payment.ts';
import { INITIATE_FIELDS, PAYMENT_FILTERS, phraseOf, SETTLE_FIELDS } from '../../contract/request-fields.ts';
import { moment, REDIRECT_WAIT_MS } from '../../contract/time.ts';
import {
  CHECKOUT_THEMES,
  DELIVERY_ORDERS,
  MODES,
  OUTCOMES,
  PAYMENT_OUTCOMES,
  PAYMENT_STATUSES,
  SETTLERS,
} from '../../contract/vocabulary.ts';
import { ownWords } from '../../diagnosis/receiver-answer.ts';
import { initiatePayment } from '../../library/merchant-client.ts';
import {
  type Context,
  choice,
  defineCommand,
  duration,
  flag,
  type GivenValues,
  type Group,
  PAGING,
  textsOf,
} from '../command.ts';
import { noPayment, retry, type Server } from '../connect.ts';
import {
  deliveryProblem,
  describeLastAttempt,
  progressFacts,
  receiverOf,
  stateOf,
  timelineText,
  verdictFacts,
  whatToDo,
} from '../format.ts';
import { listed, openInBrowser, pairs, shortMoment } from '../output.ts';

const PAY_OPTIONS = {
  approve: flag(PAYMENT_OUTCOMES.approve.description),
  cancel: flag(PAYMENT_OUTCOMES.cancel.description),
  fail: flag(PAYMENT_OUTCOMES.fail.description),
  expire: flag(PAYMENT_OUTCOMES.expire.description),
  all: flag('settle every pending payment'),
  wait: duration('wait up to this long for the emulator and a matching payment'),
  delivery: choice('order', phraseOf(SETTLE_FIELDS.delivery), DELIVERY_ORDERS),
  visit: flag(SETTLE_FIELDS.visit.description),
  requireDelivery: flag('exit 1 unless the first attempt is delivered with a correct response'),
};

type PayContext = Context & {
  args: readonly [ref: string | undefined];
  options: GivenValues<typeof PAY_OPTIONS>;
};

export const pay = defineCommand({
  args: ['[ref]'],
  summary: 'settle the newest pending payment, or one by id or identifier',
  options: PAY_OPTIONS,
  examples: ['pay --approve', 'pay order-1 --cancel', 'pay --approve --wait 30s --require-delivery'],
  run: async (context) => {
    const { all, delivery, requireDelivery, visit } = context.options;
    const input: SettleInput = {
      outcome: outcomeOf(context),
      ...(delivery && { delivery }),
      ...(requireDelivery && { awaitDelivery: true }),
      ...(visit && { visit: true }),
    };
    const { output } = context;
    const { server, payments } = await choosePayments(context);
    const settled = [];
    const texts: string[] = [];
    const notices: (string | Hint)[] = [];
    for (const { id, warnings } of payments) {
      const one = await server.call('POST /payments/:ref/settle', { param: { ref: id }, json: input });
      settled.push(one);
      texts.push(settledText(one, one.delivery ? await ipnsOf(one.delivery, server) : []));
      // The initiate request already reported the other warnings.
      const added = one.payment.warnings.slice(warnings.length);
      notices.push(...added.map((warning) => `! ${warning}`));
      if (!all && one.delivery) notices.push(...whatToDo(one.delivery));
    }
    if (!requireDelivery && settled.some(({ delivery }) => delivery?.verdict.tone === 'bad')) {
      notices.push('Exit code 0: the payment is settled. Add --require-delivery to fail when the IPN does.');
    }
    return {
      json: all ? { data: settled } : settled[0],
      text: output.shown(texts).join('\n\n') || 'No payment is pending.',
      notices,
      ...(requireDelivery && deliveryFailure(settled)),
    };
  },
});

/** The failure of `--require-delivery`, if any. */
function deliveryFailure(settled: readonly Settled[]): { failure?: string } {
  const problems = [deliveryProblem(settled.flatMap(({ delivery }) => delivery ?? []))];
  const status = settled.find(({ delivery }) => !delivery)?.payment.status;
  if (status === 'succeeded') problems.push('no IPN was sent: the delivery order is redirect-only');
  else if (status !== undefined) {
    const fix = `start the emulator with --ipn-on ${status} to send one for ${status} payments`;
    problems.push(`no IPN was sent: ${fix}`);
  }
  const failure = problems.filter((problem) => problem !== undefined).join('; ');
  return failure ? { failure } : {};
}

function outcomeOf({ args: [ref], options }: PayContext) {
  const [outcome, another] = OUTCOMES.filter((name) => options[name]);
  if (!outcome || another) {
    const flags = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(
      OUTCOMES.map((name) => `--${name}`),
    );
    throw usage(`pay requires ${outcome ? 'only one' : 'one'} of ${flags}`);
  }
  if (ref !== undefined && options.all) throw usage('pay accepts a payment or --all, not both');
  return outcome;
}

/** The IPNs that were made together with this one, itself included, in the order in which they are sent. */
async function ipnsOf({ paymentId, createdAt }: Delivery, server: Server): Promise<Delivery[]> {
  const { data } = await server.call('GET /ipns', { query: { payment: paymentId ?? undefined } });
  return data.filter((ipn) => ipn.createdAt === createdAt).reverse();
}

function settledText(settled: Settled, ipns: readonly Delivery[]): string {
  const { payment, delivery, redirectUrl, visit, verdict } = settled;
  const { mappedTo } = payment;
  const isMapped = redirectUrl === mappedTo?.successUrl || redirectUrl === mappedTo?.cancelUrl;
  const name = (index: number) => (ipns.length > 1 ? `IPN ${index + 1}` : 'IPN');
  return pairs({
    Payment: `${payment.id}  (${payment.identifier})`,
    Status: payment.status,
    Amount: `${payment.amount} ${payment.currency}  ${payment.mode}`,
    ...(delivery
      ? Object.fromEntries(ipns.map((ipn, index) => [name(index), ipnText(ipn)]))
      : { IPN: 'none sent' }),
    ...(delivery && progressFacts(delivery)),
    Redirect: redirectUrl
      ? `${redirectUrl}${isMapped ? '  (mapped)' : ''}`
      : 'none: the browser stays on the checkout',
    Visit: visit === undefined ? undefined : visitText(visit),
    ...verdictFacts(verdict),
  });
}

function ipnText(ipn: Delivery): string {
  // Settling waits this long for the first attempt.
  const waited = ipn.underWay ? `no response within ${REDIRECT_WAIT_MS / 1_000} s; ` : '';
  const attempts = ipn.attempts.length > 1 ? describeAttempts(ipn.attempts) : describeLastAttempt(ipn);
  return `${stateOf(ipn)}: ${receiverOf(ipn)}: ${waited}${attempts}`;
}

function visitText(visit: NonNullable<Settled['visit']> | null): string {
  if (visit === null) return 'none: there is no redirect address';
  const { status, location, body, error } = visit;
  if (status === null) return `no response: ${error}`;
  const words = ownWords(body ?? '');
  return [`returned ${status}`, location && `redirects to ${location}`, words && `“${words}”`]
    .filter(Boolean)
    .join(', ');
}

/** The payments to settle. With --wait, retries until the emulator and the payment are available or the time is up. */
function choosePayments({ args: [ref], options: { all, wait = 0 }, connect }: PayContext) {
  const choose = async () => {
    const server = await connect();
    const payments = ref === undefined ? await pendingPayments(server, all) : [await find(server, ref)];
    if (payments.length || all) return { server, payments };
    throw noPayment('no payment is pending');
  };
  return retry(
    wait,
    choose,
    (error) => error instanceof GatewayError && ['no_server', 'not_found'].includes(error.code),
  );
}

async function pendingPayments(server: Server, all = false): Promise<Payment[]> {
  const pending: Payment[] = [];
  let cursor: string | undefined;
  do {
    const query: PaymentFilter = { status: 'pending', limit: all ? 1_000 : 1, cursor };
    const page = await server.call('GET /payments', { query });
    pending.push(...page.data);
    cursor = (all && page.nextCursor) || undefined;
  } while (cursor);
  return pending;
}

function find(server: Server, ref: string) {
  return server.call('GET /payments/:ref', { param: { ref } });
}

/** The id of the newest payment, after a notice that names it. @throws GatewayError `not_found` */
async function newest(server: Server, output: Context['output']): Promise<string> {
  const { data } = await server.call('GET /payments', { query: { limit: 1, audits: 'false' } });
  const [payment] = data;
  if (payment) {
    output.notice(`The newest payment: ${payment.identifier}`);
    return payment.id;
  }
  throw noPayment('there are no payments');
}

const list = defineCommand({
  summary: 'list payments, newest first',
  fields: {
    ...textsOf(PAYMENT_FILTERS),
    status: choice('status', PAYMENT_FILTERS.status.description, PAYMENT_STATUSES),
    mode: choice('mode', PAYMENT_FILTERS.mode.description, MODES),
    ...PAGING,
  },
  options: { audits: flag('show the payments that audits made, too') },
  examples: ['payments list --status pending --limit 10'],
  run: async ({ fields, options: { audits }, call }) =>
    listed(
      await call('GET /payments', { query: { ...fields, ...(!audits && { audits: 'false' as const }) } }),
      {
        'Created (UTC)': ({ createdAt }) => shortMoment(createdAt),
        Identifier: ({ identifier }) => identifier,
        Amount: ({ amount, currency }) => `${amount} ${currency}`,
        Mode: ({ mode }) => mode,
        Status: ({ status, settledBy }) => (settledBy === 'audit' ? `${status} (audit)` : status),
        'Your shop': ({ shop }) => shop,
      },
      hint`No payments. Create one with: ${command('payments create')}`,
    ),
});

/** What users of a payment ask for, in their words. `--json` has every field. */
function factsOf(payment: Payment): Record<string, string | undefined> {
  const { auto, settledBy, settledAt, expiresAt, payerEmail, mappedTo } = payment;
  const at = (time: string | null) => (time === null ? undefined : `${moment(time)} UTC`);
  const mapped = (url: string, to: string | null | undefined) => (to ? `${url}  mapped to ${to}` : url);
  return {
    Payment: `${payment.id}  (${payment.identifier})`,
    Transaction: payment.trx,
    Status: payment.status,
    Amount: `${payment.amount} ${payment.currency}  ${payment.mode}, charge ${payment.charge}`,
    Details: payment.details,
    Customer: `${payment.customerName}, ${payment.customerEmail}`,
    Created: at(payment.createdAt),
    Settles: auto && settledBy === null ? `automatically: ${auto.outcome}, at ${at(auto.at)}` : undefined,
    Expires: at(expiresAt),
    Settled: settledBy === null ? undefined : `${at(settledAt)}, by ${SETTLERS[settledBy]}`,
    'Paid by': payerEmail ?? undefined,
    'IPN to': mapped(payment.ipnUrl, mappedTo?.ipnUrl),
    'On success': mapped(payment.successUrl, mappedTo?.successUrl),
    'On cancel': mapped(payment.cancelUrl, mappedTo?.cancelUrl),
    Checkout: payment.checkoutUrl,
  };
}

/** The record and its timeline, or its deliveries as commands. */
const show = defineCommand({
  args: ['[ref]'],
  summary: 'show the newest payment, or one by id or identifier, and its timeline',
  options: {
    curl: flag('print its IPNs as curl commands'),
  },
  examples: ['payments show', 'payments show order-1', 'payments show order-1 --curl'],
  run: async ({ args: [ref], options, connect, output }) => {
    const server = await connect();
    const payment = await find(server, ref ?? (await newest(server, output)));
    if (options.curl) {
      const query = { payment: payment.id, limit: '1000' };
      const deliveries = output.shown((await server.call('GET /ipns', { query })).data.toReversed());
      const commands = deliveries.map((delivery) => ({ delivery: delivery.id, curl: curlCommand(delivery) }));
      return {
        json: { data: commands, nextCursor: null },
        text: commands.map(({ curl }) => curl).join('\n\n'),
        notices: commands.length ? [] : ['This payment has no IPN yet. Settle it to send one.'],
      };
    }
    const shown = output.shown(payment);
    const { timeline, verdict } = shown;
    const parts = [pairs(verdictFacts(verdict)), pairs(factsOf(shown)), timelineText(timeline)];
    return { json: payment, text: parts.join('\n\n') };
  },
});

const { publicKey: _, checkoutTheme, ...CREATE_FIELDS } = INITIATE_FIELDS;

/** Uses the service's own route, as a merchant would. */
const create = defineCommand({
  summary: 'initiate a payment as a merchant would',
  fields: {
    ...textsOf(CREATE_FIELDS),
    theme: choice('theme', checkoutTheme.description, CHECKOUT_THEMES),
  },
  options: {
    live: flag('use live mode (default: sandbox)'),
    open: flag('open the checkout in the browser'),
  },
  examples: ['payments create --amount 49.90 --currency EUR --ipn-url http://localhost:3000/ipn --open'],
  run: async ({ fields, options, output, connect }) => {
    const server = await connect();
    const { theme: checkoutTheme, ...values } = fields;
    const mode = options.live ? 'live' : 'sandbox';
    const { checkoutUrl, id } = await initiatePayment(server, mode, { ...values, checkoutTheme });
    if (options.open) await openInBrowser(checkoutUrl, output);
    const { timeline: _, ...record } = await find(server, id);
    return {
      json: record,
      text: checkoutUrl,
      notices: [
        ...record.warnings.map((warning) => `! ${warning}`),
        hint`Pay at this URL, or with: ${command('pay', id, '--approve')}`,
      ],
    };
  },
});

export const payments: Group = {
  summary: 'list, show and create payments',
  examples: ['payments', 'payments show order-1', 'payments create --amount 49.90'],
  commands: { list, show, create },
};
