import { SETTLERS } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import { mappedAddresses } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { shownAmount } from '../amount.ts';
import STYLES from '../assets/story.css?text';
import { FactsBox, Section, Status, Warnings } from './blocks.tsx';
import { CopyAsTest } from './copy-as-test.tsx';
import { deliveryColumns } from './delivery-columns.tsx';
import { type PageRenderer, PER_PAGE, recordPage, recordPath } from './page.tsx';
import { Race } from './race.tsx';
import { Settle } from './settle-form.tsx';
import { Table } from './table.tsx';
import { Timeline } from './timeline.tsx';
import { VerdictCard } from './verdict.tsx';

/** The page of one payment: what can be done to it, its story, its IPNs. What matters next comes first. */
export const paymentPage: PageRenderer = ({ parts, id }) => {
  const payment = parts.payments.require(id);
  const merchant = parts.state.current.merchants.get(payment.merchantId) ?? parts.merchants.default;
  const verdict = parts.payments.verdict(payment);
  const steps = parts.payments.story(payment);
  const sections = (
    <>
      <VerdictCard of={verdict} ipn={verdict.ipn} from={recordPath('payments', id)} />
      <Warnings of={payment.warnings} />
      {payment.status === 'pending' && <Settle parts={parts} payment={payment} />}
      <Timeline steps={steps} payment={payment} parts={parts} />
      <Race steps={steps} />
      <Ipns parts={parts} payment={payment} />
      <div class="columns">
        <FactsBox id="facts" label="Payment" rows={factsOf(parts, payment, merchant.name)} />
        <CopyAsTest parts={parts} payment={payment} />
      </div>
    </>
  );
  const sum = shownAmount(parts, payment.amount, payment.currency);
  const heading = { title: payment.identifier, sum, status: <Status of={payment.status} /> };
  const page = recordPage('payments', payment.id, heading, sections);
  return { ...page, styles: page.styles + STYLES };
};

function factsOf(parts: AppParts, payment: Payment, merchant: string) {
  const mapped = mappedAddresses(payment, parts.runtime);
  return [
    ['Charge', shownAmount(parts, payment.charge, payment.currency)],
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

/** @param mapped where it leads by --map */
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

function noIpn(status: Payment['status']): string {
  if (status === 'pending') return 'None yet. A payment that succeeds sends one.';
  if (status === 'succeeded') return 'None was sent.';
  return `None was sent: a payment that is ${status} sends one with --ipn-on ${status} only.`;
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
        none={noIpn(payment.status)}
      />
    </Section>
  );
}
