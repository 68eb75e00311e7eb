import { command } from '../../../contract/hint.ts';
import { MODES, PAYMENT_STATUSES } from '../../../contract/vocabulary.ts';
import type { Delivery, Payment } from '../../../domain/state.ts';
import { paymentCounts } from '../../control/state.ts';
import { shownAmount } from '../amount.ts';
import { Code, Status, Time } from './blocks.tsx';
import { OutcomeBar } from './chart.tsx';
import { listPage } from './list-page.tsx';
import { NewPaymentLink } from './new-payment.tsx';
import { listPath, PLACES, recordPath } from './page.tsx';
import { SampleInitiate } from './samples.tsx';
import { column } from './table.tsx';

export const paymentsPage = listPage<Payment>({
  place: 'payments',
  noun: 'payment',
  action: () => <NewPaymentLink />,
  filter: {
    choices: [
      ['status', PAYMENT_STATUSES],
      ['mode', MODES],
    ],
    texts: ['identifier', 'id', 'trx', 'details', 'customerEmail', 'amount'],
    hint: 'identifier, e-mail, amount',
  },
  // How many there are of each status, which is also how the list is narrowed to one.
  overview: (parts, query) => {
    const counts = paymentCounts(parts);
    return (
      <nav id="payment-counts" class="box" aria-label="How payments stand">
        <ul class="counts">
          {[undefined, ...PAYMENT_STATUSES].map((status) => (
            <li>
              <a
                href={listPath('payments', { ...query, status, cursor: undefined })}
                aria-current={(query['status'] || undefined) === status ? 'true' : undefined}
              >
                <span class="number">{status ? counts[status] : parts.state.current.payments.size}</span>{' '}
                {status ? <Status of={status} /> : 'all'}
              </a>
            </li>
          ))}
        </ul>
        <OutcomeBar counts={counts} />
      </nav>
    );
  },
  records: ({ state }) => state.current.payments,
  columns: (parts) => [
    column('Payment', PaymentLink, { head: true }),
    column('Status', ({ status }) => <Status of={status} />),
    column('Amount', ({ amount, currency }) => shownAmount(parts, amount, currency), { kind: 'amount' }),
    column('IPN', ({ id }) => <LastIpn of={parts.state.current.deliveriesOf(id).at(-1)} />, { label: 'IPN' }),
    column('Mode', ({ mode }) => mode),
    column('Created (UTC)', ({ createdAt }) => <Time at={createdAt} />),
  ],
  first: (parts) => {
    const { style, baseUrl } = parts.runtime;
    const run = command('payments create', '--url', baseUrl(), '--amount 100 --currency USD');
    return (
      <>
        <p>
          <NewPaymentLink />
        </p>
        <p>
          Or initiate one as a merchant's code does: paste this into a terminal. It appears here by itself.
        </p>
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

/** With how many warnings it has; what they say is on the record's own page. */
function PaymentLink({ id, identifier, warnings: { length } }: Payment) {
  return (
    <>
      <a href={recordPath('payments', id)}>{identifier}</a>
      {length > 0 && <span class="warning">{length === 1 ? '1 warning' : `${length} warnings`}</span>}
    </>
  );
}

function LastIpn({ of: last }: { of: Delivery | undefined }) {
  if (!last) return <span class="soft">–</span>;
  return (
    <a href={recordPath('ipns', last.id)}>
      <Status of={last.state} />
    </a>
  );
}
