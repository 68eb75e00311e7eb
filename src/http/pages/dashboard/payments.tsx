import { command, GatewayError } from '../../../contract/error.ts';
import { parseInput } from '../../../contract/input.ts';
import { SettleInput } from '../../../contract/payment.ts';
import type { Tone } from '../../../contract/verdict.ts';
import {
  DELIVERY_ORDERS,
  IPN_TIMINGS,
  MODES,
  OUTCOMES,
  PAYMENT_OUTCOMES,
  PAYMENT_STATUSES,
  type PaymentOutcome,
  SETTLERS,
} from '../../../contract/vocabulary.ts';
import type { Delivery, Payment } from '../../../domain/state.ts';
import { attemptId } from '../../../usecases/story.ts';
import { mappedAddresses } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { inGroups, Link, shownAmount } from '../layout.tsx';
import { Ago, Code, FactsBox, Section, Short, Status, Time, WarningCount, Warnings } from './blocks.tsx';
import { atLeast } from './clock.tsx';
import { CopyAsTest, testsOf } from './copy-as-test.tsx';
import { SampleInitiate } from './exchange.tsx';
import { type ButtonLook, Field, Form, Submit } from './forms.tsx';
import { Standing } from './ipns.tsx';
import { type List, listPage } from './list.tsx';
import { NewPaymentLink } from './new-payment.tsx';
import { type NounPages, type PageRenderer, recordPage } from './page.tsx';
import { listPath, PLACES, recordPath, recordRoute } from './paths.ts';
import { Attempts, Lanes, Timeline, VerdictCard, whoCameFirst } from './story.tsx';
import { clip, grouped } from './text.ts';

export const PAYMENTS: List<Payment> = {
  place: 'payments',
  noun: 'payment',
  action: () => <NewPaymentLink />,
  filter: {
    choices: [
      { name: 'status', values: PAYMENT_STATUSES, label: 'Status', isCounted: true },
      { name: 'mode', values: MODES, label: 'Mode' },
    ],
    texts: ['identifier', 'id', 'trx', 'customerName', 'customerEmail', 'amount', 'currency', 'details'],
    hint: 'order, name, amount',
    fields: ['audits'],
  },
  notice: (query, { payments }) => {
    const count = [...payments.all.values()].filter(isOfAudit).length;
    const audits = query['audits'] ? undefined : 'show';
    return (
      count > 0 && (
        <p class="soft">
          {grouped(count)} from audits,{' '}
          <Link href={listPath('payments', { ...query, cursor: undefined, audits })}>{audits ?? 'hide'}</Link>
        </p>
      )
    );
  },
  records: ({ payments }, query) => {
    const all = payments.all;
    if (!query || query['audits']) return all;
    const others = [...all.values()].filter((payment) => !isOfAudit(payment));
    return {
      size: others.length,
      backwards: (visit) => all.backwards((payment, place) => isOfAudit(payment) || visit(payment, place)),
    };
  },
  columns: (parts, from) => [
    [
      'Payment',
      'head',
      ({ id, identifier, warnings }) => [
        <Short to={recordPath('payments', id, from)} text={identifier} />,
        <WarningCount of={warnings} />,
      ],
    ],
    [
      'Status',
      'state',
      (payment) => [<Status of={payment.status} />, isOfAudit(payment) && <span class="soft"> audit</span>],
    ],
    ['Amount', 'amount', ({ amount, currency }) => inGroups(shownAmount(parts, amount, currency))],
    [
      'Customer',
      'name',
      ({ customerName, customerEmail }) => <span title={clip(customerEmail)}>{clip(customerName)}</span>,
    ],
    [
      'IPN',
      'state',
      ({ id }) => {
        const last = parts.ipns.of(id).at(-1);
        return (
          last && (
            <Link href={recordPath('ipns', last.id)}>
              <Standing delivery={last} parts={parts} isBrief />
            </Link>
          )
        );
      },
      'IPN',
    ],
    ['Mode', 'few', ({ mode }) => mode],
    ['Created', 'time', ({ createdAt }) => <Ago at={createdAt} />],
  ],
  first: (parts) => {
    const { style, baseUrl } = parts.runtime;
    const run = command('payments create', '--url', baseUrl(), '--amount 100 --currency USD');
    return (
      <>
        <p>
          <NewPaymentLink />
        </p>
        <p>Or from a terminal. The payment appears here automatically.</p>
        <Code id="shorter" text={style.command(run)} what="The shorter command that initiates a payment" />
        <p>Or as your shop's code does:</p>
        <SampleInitiate parts={parts} />
        <p>
          <Link href={PLACES.keys.path}>Your keys and the lines for your .env</Link> are on the API keys page.
        </p>
      </>
    );
  },
};

const isOfAudit = ({ settledBy }: Payment) => settledBy === 'audit';

/** Shows one payment: its verdict, actions, IPNs and timeline. */
const paymentPage: PageRenderer = ({ parts, id, query }) => {
  const payment = parts.payments.require(id);
  const merchant = parts.merchants.of(payment) ?? parts.merchants.default;
  const verdict = parts.payments.verdict(payment);
  const steps = parts.payments.story(payment);
  const deliveries = parts.ipns.of(payment.id);
  const about = deliveries.find((delivery) => delivery.id === verdict.ipn);
  const from = recordPath('payments', payment.id, listPath('payments', query));
  const race = whoCameFirst(steps);
  const tests = testsOf(payment, parts.dialect.merchant);
  const sections = (
    <>
      <figure class="box" id="lanes">
        <Lanes steps={steps} payment={payment} parts={parts} />
        {race !== null && <figcaption class="soft">{race}</figcaption>}
      </figure>
      <VerdictCard
        of={verdict}
        ipn={about}
        changes={about ? parts.ipns.changesOf(about.id) : null}
        url={(about && (parts.ipns.forwardedTo(about) ?? about.url)) ?? payment.ipnUrl}
        from={from}
        test={tests.length ? '#test' : undefined}
      />
      <Warnings of={payment.warnings} />
      {payment.status === 'pending' && <Settle parts={parts} payment={payment} from={from} />}
      <Attempts deliveries={deliveries} parts={parts} />
      <Timeline steps={steps} payment={payment} parts={parts} />
      <div class="columns">
        <FactsBox id="facts" label="Payment" rows={factsOf(parts, payment, merchant.name)} />
        {tests.length > 0 && <CopyAsTest tests={tests} ipnUrl={payment.ipnUrl} />}
      </div>
    </>
  );
  const heading = {
    title: payment.identifier,
    sum: shownAmount(parts, payment.amount, payment.currency),
    status: <Pills payment={payment} deliveries={deliveries} parts={parts} />,
  };
  return recordPage('payments', payment.id, heading, sections, query);
};

const TIMINGS = DELIVERY_ORDERS.map((order) => [order, `${IPN_TIMINGS[order]} (${order})`] as const);

const LOOKS: Readonly<Record<PaymentOutcome, ButtonLook>> = {
  approve: 'primary',
  cancel: 'plain',
  fail: 'danger',
  expire: 'late',
};

/** Shows a pending payment as a state machine: its arrows are the buttons that settle it. */
function Settle({ parts, payment, from }: { parts: AppParts; payment: Payment; from: string }) {
  const { auto, expiresAt } = payment;
  const order = parts.runtime.settings.delivery;
  const checkoutUrl = parts.dialect.checkoutUrl(payment, parts.runtime.baseUrl());
  return (
    <Section id="settle" title="Finish this payment">
      <p class="inline">
        <a class="button plain" href={checkoutUrl} target="_blank" rel="noopener">
          Open checkout
        </a>
        <span class="soft">Pay like a customer, in a new tab. Or skip the checkout:</span>
      </p>
      <Form to={`${recordPath('payments', payment.id)}/settle`} hidden={{ from }} forgets>
        <Field name="delivery" label="IPN timing" value={order} options={TIMINGS} wide />
        <div class="machine">
          <Status of={payment.status} />
          <ul>
            {OUTCOMES.map((outcome) => (
              <li>
                <Submit send={['outcome', outcome]} look={LOOKS[outcome]}>
                  {PAYMENT_OUTCOMES[outcome].label}
                </Submit>
                <Status of={PAYMENT_OUTCOMES[outcome].status} />
              </li>
            ))}
          </ul>
        </div>
      </Form>
      {auto && (
        <p class="soft">
          It settles automatically ({auto.outcome}) at <Time at={auto.at} zone />.
        </p>
      )}
      {expiresAt !== null && (
        <p class="soft">
          It expires at <Time at={expiresAt} zone />.
        </p>
      )}
    </Section>
  );
}

const CUSTOMER: Readonly<Record<Payment['status'], readonly [words: string, tone: Tone]>> = {
  pending: ['not paid yet', 'waiting'],
  succeeded: ['paid', 'good'],
  canceled: ['canceled', 'waiting'],
  failed: ['payment failed', 'waiting'],
  expired: ['did not pay in time', 'waiting'],
};

/** Answers two questions: did the customer pay, and does the shop know? */
function Pills(props: { payment: Payment; deliveries: readonly Delivery[]; parts: AppParts }) {
  const { payment, deliveries, parts } = props;
  const [paid, tone] = CUSTOMER[payment.status];
  const { tone: shopTone } = parts.payments.verdict(payment);
  return (
    <>
      <span class={`pill ${tone}`} data-pill="customer">
        Customer: {paid}
      </span>
      <span class={`pill ${deliveries.length ? shopTone : 'waiting'}`} data-pill="shop">
        Your shop: {shopStatus(deliveries, parts)}
      </span>
    </>
  );
}

function shopStatus(deliveries: readonly Delivery[], { ipns }: AppParts): string {
  const forged = deliveries.map((delivery) => ipns.verdictOnForgery(delivery)?.tone);
  if (forged.at(-1) === 'bad') return 'accepted a forged copy';
  const genuine = deliveries.filter((_, index) => forged[index] === undefined);
  const newest = genuine.at(-1);
  if (!newest) return 'no IPN sent';
  const attempts = genuine.reduce((sum, { attemptCount }) => sum + attemptCount, 0);
  const { tone } = ipns.verdict(newest);
  const status =
    newest.state !== 'delivered'
      ? 'not notified'
      : tone === 'bad'
        ? 'notified, but reported an error'
        : 'notified';
  if (attempts === 0) return 'not notified yet';
  return attempts === 1 ? status : `${status}, ${attempts} attempts`;
}

function factsOf(parts: AppParts, payment: Payment, merchant: string) {
  const mapped = mappedAddresses(payment, parts.runtime);
  return [
    ['Charge', shownAmount(parts, payment.charge, payment.currency)],
    ['Status', <Status of={payment.status} />],
    ['Mode', payment.mode],
    ['Payment', <code>{payment.id}</code>],
    ['Transaction', <code>{payment.trx}</code>],
    ['Merchant', merchant],
    ['Customer', `${payment.customerName}, ${payment.customerEmail}`],
    ['Details', payment.details],
    ['IPN to', <Address url={payment.ipnUrl} mapped={mapped?.ipnUrl} />],
    ['On success', <Address url={payment.successUrl} mapped={mapped?.successUrl} />],
    ['On cancel', <Address url={payment.cancelUrl} mapped={mapped?.cancelUrl} />],
    ['Settled by', payment.settledBy && SETTLERS[payment.settledBy]],
  ] as const;
}

/** @param mapped the URL that `--map` replaces it with */
function Address({ url, mapped }: { url: string; mapped: string | null | undefined }) {
  return (
    <>
      <code>{url}</code>
      {mapped && (
        <>
          {' '}
          <span class="soft">mapped to</span> <code>{mapped}</code>
        </>
      )}
    </>
  );
}

const PAYMENT = recordRoute('payments');

export const PAYMENT_PAGES: NounPages = {
  pages: {
    [PLACES.payments.path]: listPage(PAYMENTS),
    [PAYMENT]: paymentPage,
  },
  forms: {
    [`${PAYMENT}/settle`]: async ({ payments }, { outcome, delivery }, id) => {
      const input = parseInput(SettleInput, { outcome, ...(delivery && { delivery }) });
      await payments.settle(id, { ...input, by: 'control' });
    },
    [`${PAYMENT}/run`]: async ({ payments, ipns, clock }, { ipn = '', attempt = '' }, id) => {
      const payment = payments.require(id);
      const { paymentId, nextAttemptAt, attemptCount } = ipns.require(ipn);
      if (paymentId !== payment.id)
        throw new GatewayError('not_found', `${ipn} is not an IPN of this payment`);
      // A second click, for example in another tab, must not run one more attempt.
      if (nextAttemptAt !== null && attemptCount < Number(attempt)) {
        await clock.move({ advance: atLeast(Date.parse(nextAttemptAt) - clock.now()) });
      }
      return `${recordPath('payments', payment.id)}#${attemptId(ipn, Number(attempt))}`;
    },
  },
};
