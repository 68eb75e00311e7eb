import type { Mask } from '../../../contract/secrets.ts';
import { PAYMENT_STATUSES } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import type { AppDependencies } from '../../environment.ts';
import { rejectedInitiates } from '../../rejected-initiates.ts';
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
  filter: {
    choices: [
      {
        name: 'status',
        values: [ATTENTION, ...PAYMENT_STATUSES],
        label: 'Status',
        shown: { [ATTENTION]: <Status of="refused">Needs attention</Status> },
        of: (payment, { payments }) =>
          payments.attention(payment) ? [payment.status, ATTENTION] : [payment.status],
      },
    ],
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
  },
  notice: (parts) => <Rejected parts={parts} />,
  records: ({ payments }, { status }) => {
    const newest = [...payments.all.values()].reverse();
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

/** Maximum number of rejected initiates above the list. */
const SHOWN_REJECTED = 5;
/** Maximum length of a reason there: a request may be rejected for twenty. */
const LONGEST_REASON = 200;

/** A reason that is too long ends after a whole word. */
const brief = (reason: string, mask: Mask) => mask(reason, { most: LONGEST_REASON }).replace(/\s+\S*…$/, '…');

/** The payments that were rejected at initiate. Only the request log knows them. */
function Rejected({ parts }: { parts: AppDependencies }) {
  const { total, newest } = rejectedInitiates(parts, SHOWN_REJECTED);
  const { mask } = parts.secrets;
  const [first] = newest;
  if (!first) return null;
  const rest = total - SHOWN_REJECTED;
  return (
    <details id="rejected" class="box" open={parts.payments.all.size === 0}>
      <summary>
        <Status of="refused">
          {`${grouped(total)} initiate ${total === 1 ? 'request' : 'requests'} rejected`}
        </Status>{' '}
        <span class="soft">
          {clip(first.identifier, mask)}: {brief(first.reason, mask)}
        </span>
      </summary>
      <ul class="reasons">
        {newest.map(({ request, identifier, reason }) => (
          <li id={`rejected-${request.id}`}>
            <Link href={recordPath('requests', request.id)}>
              {clip(identifier, mask) || `Request ${request.id}`}
            </Link>{' '}
            {brief(reason, mask)} <Ago at={request.at} />
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <Link href={listPath('requests', { route: 'initiate', text: 'rejected' })}>
          And {grouped(rest)} more in Requests
        </Link>
      )}
    </details>
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
