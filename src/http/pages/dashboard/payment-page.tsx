import { SETTLERS } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import { diagnose } from '../../diagnosis.ts';
import type { AppParts } from '../../environment.ts';
import { shownAmount } from '../amount.ts';
import { FactsBox, FoldedCode, Section, Status, Warnings } from './blocks.tsx';
import { deliveryColumns } from './delivery-columns.tsx';
import { type PageRenderer, PER_PAGE, recordPage, recordPath } from './page.tsx';
import { initiateAgain } from './samples.tsx';
import { Settle } from './settle-form.tsx';
import { Table } from './table.tsx';
import { Timeline } from './timeline.tsx';
import { VerdictCard } from './verdict.tsx';

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
