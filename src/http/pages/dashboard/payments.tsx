import { command, GatewayError } from '../../../contract/error.ts';
import type { Mask } from '../../../contract/secrets.ts';
import { MODES, PAYMENT_STATUSES } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import type { AppDependencies } from '../../environment.ts';
import { rejectedInitiates } from '../../rejected-initiates.ts';
import { inGroups, Link, shownAmount } from '../layout.tsx';
import { Ago, Code, type Column, ShopStatus, Short, ShortAddress, Status, WarningCount } from './blocks.tsx';
import { SampleInitiate } from './exchange.tsx';
import { Form } from './forms.tsx';
import { besideIn, type List, listPage, type Records } from './list.tsx';
import { NewPaymentLink } from './new-payment.tsx';
import type { NounPages } from './page.tsx';
import { ATTENTION, listPath, ownPage, PLACES, recordPath, recordRoute, UI } from './paths.ts';
import { PAYMENT_FORMS, paymentPage } from './payment.tsx';
import { clip, grouped } from './text.ts';

/** Resends the selected IPNs. The field names are the ids of their deliveries. */
const RESEND_SELECTED = `${UI}/resend-selected`;

const isOfAudit = ({ settledBy }: Payment) => settledBy === 'audit';

export const PAYMENTS: List<Payment> = {
  place: 'payments',
  noun: 'payment',
  action: (from, { status }) =>
    status === ATTENTION ? (
      <Form id="resend-selected" to={RESEND_SELECTED} hidden={{ from }} submit="Resend selected" inline>
        <label>
          <input type="checkbox" data-all /> Select all
        </label>
      </Form>
    ) : (
      <NewPaymentLink />
    ),
  filter: {
    choices: [
      {
        name: 'status',
        values: [ATTENTION, ...PAYMENT_STATUSES],
        label: 'Status',
        shown: { [ATTENTION]: <Status of="failed">Needs attention</Status> },
        of: (payment, { payments }) =>
          payments.attention(payment) ? [payment.status, ATTENTION] : [payment.status],
        isCounted: true,
      },
      { name: 'mode', values: MODES, label: 'Mode' },
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
    ],
    isOfAudit,
  },
  notice: ({ resent = '' }, parts) => (
    <>
      {/* Anyone can link to this page with any text. */}
      {/^\d+ of \d+$/.test(resent) && (
        <p class="box" role="status">
          Resent: {resent} accepted.
        </p>
      )}
      <Rejected parts={parts} />
    </>
  ),
  records: ({ payments }, { status }) => (status === ATTENTION ? forgedFirst(payments) : payments.all),
  columns: (parts, from, { status }) =>
    status === ATTENTION ? ofAttention(parts, from) : ofPayments(parts, from),
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
          <Link href={PLACES.settings.path}>Your API keys and the lines for your .env</Link> are in Settings.
        </p>
      </>
    );
  },
};

/** Above every place in the list, so that a cursor tells forged IPNs from the rest. */
const FORGED = 1e9;

/** All payments, beginning with those of which the shop accepted a forged IPN. */
function forgedFirst({ all, attention }: AppDependencies['payments']): Records<Payment> {
  const isForged = (payment: Payment) => attention(payment)?.isForged === true;
  return {
    size: all.size,
    backwards(visit) {
      let goesOn = true;
      all.backwards((payment, place) => {
        if (isForged(payment)) goesOn = visit(payment, FORGED + place);
        return goesOn;
      });
      if (goesOn) all.backwards((payment, place) => isForged(payment) || visit(payment, place));
    },
  };
}

const identity = (from: string): Column<Payment> => [
  'Payment',
  'head',
  (payment) => [
    <Short to={recordPath('payments', payment.id, from)} text={payment.identifier} />,
    <WarningCount of={payment.warnings} />,
  ],
];

const MODE: Column<Payment> = ['Mode', 'mode', ({ mode }) => mode];

function ofPayments(parts: AppDependencies, from: string): Column<Payment>[] {
  const { mask } = parts.secrets;
  return [
    identity(from),
    MODE,
    [
      'Status',
      'state',
      (payment) => [<Status of={payment.status} />, isOfAudit(payment) && <span class="soft"> audit</span>],
    ],
    ['Amount', 'amount', ({ amount, currency }) => inGroups(shownAmount(parts, amount, currency))],
    [
      'Customer',
      'few',
      ({ customerName, customerEmail }) => (
        <span title={clip(customerEmail, mask)}>{clip(customerName, mask)}</span>
      ),
    ],
    ['Your shop', 'cause', (payment) => <Shop payment={payment} parts={parts} />, 'Your shop'],
    ['Created', 'time', ({ createdAt }) => <Ago at={createdAt} />],
  ];
}

/** With what is needed to send their IPNs again. */
function ofAttention(parts: AppDependencies, from: string): Column<Payment>[] {
  return [
    [
      'Select',
      'select',
      (payment) => {
        const { delivery, isForged = true } = parts.payments.attention(payment) ?? {};
        return (
          !isForged && (
            <input
              type="checkbox"
              name={delivery?.id}
              form="resend-selected"
              aria-label={`Select the IPN of ${payment.identifier}, ${payment.id}`}
            />
          )
        );
      },
    ],
    identity(from),
    MODE,
    ['Your shop', 'cause', (payment) => <Shop payment={payment} parts={parts} />, 'Your shop'],
    [
      'To',
      'address',
      (payment) => {
        const { delivery } = parts.payments.attention(payment) ?? {};
        const forwardedTo = delivery && parts.ipns.forwardedTo(delivery);
        return [
          forwardedTo && <span class="soft">forwarded to </span>,
          <ShortAddress url={forwardedTo ?? delivery?.url ?? payment.ipnUrl} />,
        ];
      },
    ],
    ['Created', 'time', ({ createdAt }) => <Ago at={createdAt} />],
    [
      'Action',
      'action',
      (payment) => {
        const { delivery } = parts.payments.attention(payment) ?? {};
        return (
          delivery && (
            <Form
              to={`${recordPath('ipns', delivery.id)}/resend`}
              hidden={{ from }}
              submit="Resend"
              about={`IPN of ${payment.identifier}, ${payment.id}`}
            />
          )
        );
      },
    ],
  ];
}

function Shop({ payment, parts }: { payment: Payment; parts: AppDependencies }) {
  const shop = parts.payments.shopState(payment);
  return shop.state === 'none' && payment.status !== 'succeeded' ? null : <ShopStatus of={shop} />;
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
        <Status of="failed">
          {`${grouped(total)} initiate ${total === 1 ? 'request' : 'requests'} rejected`}
        </Status>{' '}
        <span class="soft">
          {clip(first.identifier, mask)}: {brief(first.reason, mask)}
        </span>
      </summary>
      <ul class="reasons">
        {newest.map(({ request, identifier, reason }) => (
          <li data-key={request.id}>
            <Link href={recordPath('requests', request.id)}>
              {clip(identifier, mask) || `Request ${request.id}`}
            </Link>{' '}
            {brief(reason, mask)} <Ago at={request.at} />
          </li>
        ))}
      </ul>
      {rest > 0 && (
        <Link href={listPath('requests', { route: 'initiate', result: 'rejected' })}>
          And {grouped(rest)} more in Requests
        </Link>
      )}
    </details>
  );
}

const PAYMENT = recordRoute('payments');

export const PAYMENT_PAGES: NounPages = {
  pages: {
    [PLACES.payments.path]: listPage(PAYMENTS),
    // Above the pages of its records, as in every other list.
    [`${UI}/payments`]: listPage(PAYMENTS),
    [PAYMENT]: (request) => paymentPage(request, besideIn(PAYMENTS, request, 'payments')),
  },
  forms: {
    ...PAYMENT_FORMS,
    [RESEND_SELECTED]: async ({ ipns: { resend, shopState } }, { from, ...selected }) => {
      const ids = Object.keys(selected);
      if (!ids.length) throw new GatewayError('invalid_fields', 'no IPN is selected: select at least one');
      const results = await Promise.allSettled(ids.map((id) => resend(id)));
      const accepted = results.filter(
        (one) => one.status === 'fulfilled' && shopState(one.value).state === 'accepted',
      );
      const back = new URL(ownPage(from, listPath('payments', { status: ATTENTION })), 'http://localhost');
      back.searchParams.set('resent', `${accepted.length} of ${ids.length}`);
      return back.pathname + back.search;
    },
  },
};
