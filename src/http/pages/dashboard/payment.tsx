import { DELIVERY_ORDERS, OUTCOMES, PAYMENT_OUTCOMES, SETTLERS } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { shownAmount } from '../amount.ts';
import { Code, FactsBox, Section, Status, Time, Warnings } from './blocks.tsx';
import { Form, Submit } from './forms.tsx';
import { deliveryColumns } from './ipns.tsx';
import { PER_PAGE, recordPath } from './navigation.ts';
import { idOf, type PageRenderer, recordPage } from './page.tsx';
import { initiateAgain } from './samples.tsx';
import { Table } from './table.tsx';
import { Timeline } from './timeline.tsx';

/** The page of one payment: what can be done to it, its timeline, its IPNs. */
export const paymentPage: PageRenderer = ({ parts, c }) => {
  const payment = parts.payments.require(idOf(c));
  return recordPage({
    place: 'payments',
    id: payment.id,
    title: payment.identifier,
    sum: shownAmount(parts, payment.amount, payment.currency),
    status: <Status of={payment.status} />,
    sections: <Sections parts={parts} payment={payment} />,
  });
};

interface PaymentProps {
  parts: AppParts;
  payment: Payment;
}

/** What matters next comes first: to settle it, or what became of its IPN. */
function Sections({ parts, payment }: PaymentProps) {
  const { current: state } = parts.state;
  const merchant = state.merchants.get(payment.merchantId) ?? parts.merchants.default;
  const isPending = payment.status === 'pending';
  const ipns = <Ipns parts={parts} payment={payment} />;
  return (
    <>
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
            <details id="curl-details">
              <summary>Initiate this payment again</summary>
              <Code
                id="curl"
                text={initiateAgain(parts, payment, merchant)}
                what="The command that initiates it"
              />
            </details>
            <p class="soft">That of an IPN is on the IPN's page.</p>
          </Section>
        </div>
        <FactsBox
          id="facts"
          label="Payment"
          rows={[
            ['Charge', shownAmount(parts, payment.charge, payment.currency)],
            ['Mode', payment.mode],
            ['Payment', <code>{payment.id}</code>],
            ['Transaction', <code>{payment.trx}</code>],
            ['Merchant', merchant.name],
            ['Customer', `${payment.customerName}, ${payment.customerEmail}`],
            ['Details', payment.details],
            ['IPN to', <code>{payment.ipnUrl}</code>],
            ['On success', <code>{payment.successUrl}</code>],
            ['On cancel', <code>{payment.cancelUrl}</code>],
            payment.settledBy === null ? undefined : ['Settled by', SETTLERS[payment.settledBy]],
          ]}
        />
      </div>
      {isPending && ipns}
    </>
  );
}

function Ipns({ parts, payment }: PaymentProps) {
  const { current: state } = parts.state;
  const rows = state.deliveriesOf(payment.id).toReversed().slice(0, PER_PAGE);
  const from = recordPath('payments', payment.id);
  return (
    <Section id="payment-ipns" title="IPNs">
      {rows.length > 0 ? (
        <Table
          id="payment-ipn-list"
          label="IPNs of this payment, newest first"
          columns={deliveryColumns(state, from, true)}
          rows={rows}
          keyOf={({ id }) => ({ id })}
        />
      ) : (
        <p class="soft">
          {payment.status === 'pending' ? 'None yet: settling the payment sends one.' : 'None was sent.'}
        </p>
      )}
    </Section>
  );
}

function Settle({ parts, payment }: PaymentProps) {
  const { auto, expiresAt } = payment;
  return (
    <Section id="settle" title="Settle it">
      <Form
        to={`${recordPath('payments', payment.id)}/settle`}
        fields={[
          {
            name: 'delivery',
            label: 'Order of IPN and redirect',
            value: parts.runtime.settings.delivery,
            options: DELIVERY_ORDERS,
          },
        ]}
      >
        <div class="inline">
          {OUTCOMES.map((outcome) => (
            <Submit send={['outcome', outcome]} look={outcome === 'approve' ? 'primary' : 'plain'}>
              {PAYMENT_OUTCOMES[outcome].label}
            </Submit>
          ))}
        </div>
      </Form>
      <p class="inline">
        <a
          class="button plain"
          href={parts.dialect.checkoutUrl(payment, parts.runtime.baseUrl())}
          target="_blank"
          rel="noopener"
        >
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
