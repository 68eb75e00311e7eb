import { command } from '../../../contract/hint.ts';
import { MODES, PAYMENT_STATUSES } from '../../../contract/vocabulary.ts';
import type { Delivery, Payment } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { inGroups, shownAmount } from '../summary.tsx';
import { Ago, Code, Short, Status, WarningCount } from './blocks.tsx';
import { Standing } from './ipns.tsx';
import type { List } from './list-page.tsx';
import { NewPaymentLink } from './new-payment.tsx';
import { listPath, PLACES, recordPath } from './page.tsx';
import { SampleInitiate } from './samples.tsx';
import { column } from './table.tsx';
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
          <a href={listPath('payments', { ...query, cursor: undefined, audits })}>{audits ?? 'hide'}</a>
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
      values: () => others,
      backwards: (visit) => all.backwards((payment, place) => isOfAudit(payment) || visit(payment, place)),
    };
  },
  columns: (parts, from) => [
    column('Payment', (payment) => <PaymentLink of={payment} from={from} />, { head: true }),
    column(
      'Status',
      (payment) => [<Status of={payment.status} />, isOfAudit(payment) && <span class="soft"> audit</span>],
      { kind: 'state' },
    ),
    column('Amount', ({ amount, currency }) => inGroups(shownAmount(parts, amount, currency)), {
      kind: 'amount',
    }),
    column('Customer', Customer, { kind: 'name' }),
    column('IPN', ({ id }) => <LastIpn of={parts.ipns.of(id).at(-1)} parts={parts} />, {
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
        <p>
          <NewPaymentLink />
        </p>
        <p>Or from a terminal. The payment appears here automatically.</p>
        <Code id="shorter" text={style.command(run)} what="The shorter command that initiates a payment" />
        <p>Or as your shop's code does:</p>
        <SampleInitiate parts={parts} merchant={parts.merchants.default} />
        <p>
          <a href={PLACES.keys.path}>Your keys and the lines for your .env</a> are on the API keys page.
        </p>
      </>
    );
  },
};

const isOfAudit = ({ settledBy }: Payment) => settledBy === 'audit';

function PaymentLink({ of: { id, identifier, warnings }, from }: { of: Payment; from: string }) {
  return (
    <>
      <Short to={recordPath('payments', id, from)} text={identifier} />
      <WarningCount of={warnings} />
    </>
  );
}

function Customer({ customerName, customerEmail }: Payment) {
  return <span title={clip(customerEmail)}>{clip(customerName)}</span>;
}

function LastIpn({ of: last, parts }: { of: Delivery | undefined; parts: AppParts }) {
  if (!last) return null;
  return (
    <a href={recordPath('ipns', last.id)}>
      <Standing delivery={last} parts={parts} isBrief />
    </a>
  );
}
