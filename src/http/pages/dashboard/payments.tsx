import { PAYMENT_STATUSES } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import { isRejectedInitiate } from '../../../service/merchant.ts';
import type { AppDependencies } from '../../environment.ts';
import { inGroups, Link, shownAmount } from '../layout.tsx';
import { Ago, type Column, RecordLink, ShopStatus, Status, WarningCount } from './blocks.tsx';
import { SampleInitiate } from './exchange.tsx';
import { Form } from './forms.tsx';
import { type List, listPage } from './list.tsx';
import { NewPaymentLink } from './new-payment.tsx';
import type { NounPages } from './page.tsx';
import { ATTENTION, type FormValues, listPath, PLACES, recordPath, recordRoute, UI } from './paths.ts';
import { PAYMENT_FORMS, paymentPage } from './payment.tsx';
import { clip, grouped } from './text.ts';

const isOfAudit = ({ settledBy }: Payment) => settledBy === 'audit';

const PAYMENTS: List<Payment> = {
  place: 'payments',
  noun: 'payment',
  action: <NewPaymentLink />,
  choice: {
    name: 'status',
    values: [ATTENTION, ...PAYMENT_STATUSES],
    label: 'Status',
    shown: { [ATTENTION]: <Status of="refused">Needs attention</Status> },
    of: (payment, { payments }) =>
      payments.attention(payment) ? [payment.status, ATTENTION] : [payment.status],
  },
  texts: [
    'identifier',
    'id',
    'trx',
    'customerName',
    'customerEmail',
    'amount',
    'currency',
    'details',
    'ipnUrl',
    'mode',
  ],
  isOfAudit,
  notice: (parts) => <Rejected parts={parts} />,
  records: ({ payments, store }, { status }) => {
    const newest = [...store.state.payments.values()].reverse();
    if (status !== ATTENTION) return newest;
    const isForged = (payment: Payment) => payments.attention(payment)?.isForged === true;
    return [...newest.filter(isForged), ...newest.filter((payment) => !isForged(payment))];
  },
  columns: columnsOf,
  first: (parts) => (
    <>
      <p>
        <NewPaymentLink />
      </p>
      <p>Or as your shop's code does. The payment appears here automatically.</p>
      <SampleInitiate parts={parts} />
      <p>
        <Link href={PLACES.settings.path}>Your API keys and the lines for your .env</Link> are in Settings.
      </p>
    </>
  ),
};

function columnsOf(parts: AppDependencies, from: string, { status }: FormValues): Column<Payment>[] {
  const { mask } = parts.secrets;
  return [
    [
      'Payment',
      'head',
      ({ id, identifier, warnings }) => [
        <RecordLink to={recordPath('payments', id)} text={identifier} />,
        <WarningCount of={warnings} />,
      ],
    ],
    ['Mode', 'mode', ({ mode }) => mode],
    [
      'Status',
      'state',
      (payment) => [<Status of={payment.status} />, isOfAudit(payment) && <span class="soft"> audit</span>],
    ],
    ['Amount', 'amount', ({ amount, currency }) => inGroups(shownAmount(parts, amount, currency))],
    status === ATTENTION
      ? ['Action', 'action', (payment) => <Resend payment={payment} from={from} parts={parts} />]
      : ['Customer', 'few', ({ customerName }) => clip(customerName, mask)],
    ['Your shop', 'cause', (payment) => <ShopStatus of={parts.payments.shopState(payment)} />, 'Your shop'],
    ['Created', 'time', ({ createdAt }) => <Ago at={createdAt} />],
  ];
}

function Resend({ payment, from, parts }: { payment: Payment; from: string; parts: AppDependencies }) {
  const { delivery } = parts.payments.attention(payment) ?? {};
  if (!delivery) return null;
  return (
    <Form
      to={`${recordPath('ipns', delivery.id)}/resend`}
      hidden={{ from }}
      submit="Resend"
      about={`IPN of ${payment.identifier}, ${payment.id}`}
    />
  );
}

/** The number of payments that were rejected at initiate. Only the request log knows them, and the reasons. */
function Rejected({ parts }: { parts: AppDependencies }) {
  const count = parts.events.requests().filter(isRejectedInitiate).length;
  if (count === 0) return null;
  return (
    <p id="rejected" class="box">
      <Status of="refused">{`${grouped(count)} initiate ${count === 1 ? 'request' : 'requests'} rejected`}</Status>{' '}
      <Link href={listPath('requests', { route: 'initiate', text: 'rejected' })}>Show why</Link>
    </p>
  );
}

export const PAYMENT_PAGES: NounPages = {
  pages: {
    [PLACES.payments.path]: listPage(PAYMENTS),
    // Above the pages of its records, as in every other list.
    [`${UI}/payments`]: listPage(PAYMENTS),
    [recordRoute('payments')]: paymentPage,
  },
  forms: PAYMENT_FORMS,
};
