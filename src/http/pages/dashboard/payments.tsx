import { command } from '../../../contract/hint.ts';
import { PAYMENT_OUTCOMES } from '../../../contract/outcomes.ts';
import { DELIVERY_ORDERS, MODES, PAYMENT_STATUSES, SETTLERS } from '../../../contract/vocabulary.ts';
import type { Delivery, Payment } from '../../../domain/state.ts';
import { paymentCounts } from '../../control/state.ts';
import { diagnose } from '../../diagnosis.ts';
import type { AppParts } from '../../environment.ts';
import { shownAmount } from '../amount.ts';
import {
  Ago,
  Code,
  FactsBox,
  FoldedCode,
  Section,
  ShortLink,
  Status,
  Time,
  WarningCount,
  Warnings,
} from './blocks.tsx';
import { OutcomeBar } from './chart.tsx';
import { deliveryColumns } from './delivery-columns.tsx';
import { Field, Form, Submit } from './forms.tsx';
import { listPage } from './list-page.tsx';
import { type PageRenderer, PER_PAGE, PLACES, recordPage, recordPath } from './page.tsx';
import { initiateAgain, SampleInitiate } from './samples.tsx';
import { column, Table } from './table.tsx';
import { Timeline } from './timeline.tsx';
import { VerdictCard } from './verdict.tsx';

/** Where a text is looked for. */
export const PAYMENT_TEXTS = [
  'identifier',
  'id',
  'trx',
  'customerName',
  'customerEmail',
  'amount',
  'currency',
  'details',
] as const;

export const paymentsPage = listPage<Payment>({
  place: 'payments',
  noun: 'payment',
  filter: {
    choices: [
      { name: 'status', values: PAYMENT_STATUSES, label: 'How payments stand', counts: paymentCounts },
      { name: 'mode', values: MODES, label: 'Mode' },
    ],
    texts: PAYMENT_TEXTS,
    hint: 'order, name, amount',
  },
  overview: (parts, query) => <OutcomeBar counts={paymentCounts(parts)} query={query} />,
  records: ({ state }) => state.current.payments,
  columns: (parts) => [
    column('Payment', PaymentLink, { head: true }),
    column('Status', ({ status }) => <Status of={status} />, { kind: 'state' }),
    column('Amount', ({ amount, currency }) => shownAmount(parts, amount, currency), { kind: 'amount' }),
    column('Customer', Customer, { kind: 'name' }),
    column('IPN', ({ id }) => <LastIpn of={parts.state.current.deliveriesOf(id).at(-1)} />, {
      kind: 'state',
      label: 'IPN',
    }),
    column('Mode', ({ mode }) => mode, { kind: 'few' }),
    column('Created', ({ createdAt }) => <Ago at={createdAt} />, { kind: 'time' }),
  ],
  first: (parts) => {
    const { style, baseUrl } = parts.runtime;
    const run = command('payments create', '--url', baseUrl(), '--amount 100 --currency USD');
    return (
      <>
        <p>Initiate one as a merchant's code does: paste this into a terminal. It appears here by itself.</p>
        <SampleInitiate parts={parts} merchant={parts.merchants.default} />
        <p>Or shorter:</p>
        <Code id="shorter" text={style.command(run)} what="The shorter command that initiates a payment" />
        <p>
          <a href={PLACES.keys.path}>Both keys, and lines for your .env</a>, are under Api Key.
        </p>
      </>
    );
  },
});

function PaymentLink({ id, identifier, warnings }: Payment) {
  return (
    <>
      <ShortLink to={recordPath('payments', id)} text={identifier} />
      <WarningCount of={warnings} />
    </>
  );
}

function Customer({ customerName, customerEmail }: Payment) {
  return <span title={customerEmail}>{customerName}</span>;
}

function LastIpn({ of: last }: { of: Delivery | undefined }) {
  if (!last) return null;
  return (
    <a href={recordPath('ipns', last.id)}>
      <Status of={last.state} />
    </a>
  );
}

/** The page of one payment: what can be done to it, its timeline, its IPNs. What matters next comes first. */
export const paymentPage: PageRenderer = ({ parts, id }) => {
  const payment = parts.payments.require(id);
  const { current: state } = parts.state;
  const merchant = state.merchants.get(payment.merchantId) ?? parts.merchants.default;
  const isPending = payment.status === 'pending';
  const last = state.deliveriesOf(id).at(-1);
  const ipns = <Ipns parts={parts} payment={payment} />;
  const sections = (
    <>
      {last && <VerdictCard of={diagnose(last, parts)} resend={recordPath('ipns', last.id)} ipn={last.id} />}
      <Warnings of={payment.warnings} />
      {!isPending && ipns}
      <div class="columns uneven" id="payment">
        <div class="stack">
          {isPending && <Settle parts={parts} payment={payment} />}
          <Timeline
            steps={parts.payments.timeline(payment)}
            hasOneIpn={state.deliveriesOf(payment.id).length === 1}
          />
          <Section id="again" title="Copy as curl">
            <FoldedCode
              id="curl-details"
              title="Initiate this payment again"
              code="curl"
              text={initiateAgain(parts, payment, merchant)}
              what="The command that initiates it"
            />
            <p class="soft">That of an IPN is on the IPN's page.</p>
          </Section>
        </div>
        <FactsBox id="facts" label="Payment" rows={factsOf(parts, payment, merchant.name)} />
      </div>
      {isPending && ipns}
    </>
  );
  const sum = shownAmount(parts, payment.amount, payment.currency);
  const heading = { title: payment.identifier, sum, status: <Status of={payment.status} /> };
  return recordPage('payments', payment.id, heading, sections);
};

function factsOf(parts: AppParts, payment: Payment, merchant: string) {
  return [
    ['Charge', shownAmount(parts, payment.charge, payment.currency)],
    ['Mode', payment.mode],
    ['Payment', <code>{payment.id}</code>],
    ['Transaction', <code>{payment.trx}</code>],
    ['Merchant', merchant],
    ['Customer', `${payment.customerName}, ${payment.customerEmail}`],
    ['Details', payment.details],
    ['IPN to', <code>{payment.ipnUrl}</code>],
    ['On success', <code>{payment.successUrl}</code>],
    ['On cancel', <code>{payment.cancelUrl}</code>],
    ['Settled by', payment.settledBy && SETTLERS[payment.settledBy]],
  ] as const;
}

function Ipns({ parts, payment }: { parts: AppParts; payment: Payment }) {
  const rows = parts.state.current.deliveriesOf(payment.id).toReversed().slice(0, PER_PAGE);
  return (
    <Section id="payment-ipns" title="IPNs">
      <Table
        id="payment-ipn-list"
        label="IPNs of this payment, newest first"
        columns={deliveryColumns(parts, recordPath('payments', payment.id), true)}
        rows={rows}
        keyOf={({ id }) => ({ id })}
        none={payment.status === 'pending' ? 'None yet: settling the payment sends one.' : 'None was sent.'}
      />
    </Section>
  );
}

function Settle({ parts, payment }: { parts: AppParts; payment: Payment }) {
  const { auto, expiresAt } = payment;
  const order = parts.runtime.settings.delivery;
  const checkoutUrl = parts.dialect.checkoutUrl(payment, parts.runtime.baseUrl());
  return (
    <Section id="settle" title="Settle it">
      <Form to={`${recordPath('payments', payment.id)}/settle`} forgets>
        <Field name="delivery" label="Order of IPN and redirect" value={order} options={DELIVERY_ORDERS} />
        <div class="inline">
          {Object.entries(PAYMENT_OUTCOMES).map(([outcome, { label }]) => (
            <Submit send={['outcome', outcome]} look={outcome === 'approve' ? 'primary' : 'plain'}>
              {label}
            </Submit>
          ))}
        </div>
      </Form>
      <p class="inline">
        <a class="button plain" href={checkoutUrl} target="_blank" rel="noopener">
          Open checkout
        </a>
        <span class="soft">In a new tab, as the customer sees it.</span>
      </p>
      {auto && (
        <p class="soft">
          It settles itself ({auto.outcome}) at <Time at={auto.at} zone />.
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
