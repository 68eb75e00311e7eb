import { MODES, PAYMENT_STATUSES } from '../../../contract/vocabulary.ts';
import { defaultMerchant } from '../../../domain/merchant.ts';
import { type Currency, formatAmount } from '../../../domain/money.ts';
import type { Payment, State } from '../../../domain/state.ts';
import { paymentCounts } from '../../control/state.ts';
import type { AppParts } from '../../environment.ts';
import { Choice, Code, Field, Pages, Status, Time } from './blocks.tsx';
import { OutcomeBar } from './chart.tsx';
import { listPath, PER_PAGE, PLACES, UI } from './navigation.ts';
import { sampleInitiate } from './samples.ts';
import { Cell, Row, RowHead, Table } from './table.tsx';

/** What a list of payments is narrowed to. */
export type PaymentFilter = {
  status?: string | undefined;
  mode?: string | undefined;
  /** Part of identifier, id, transaction, details, e-mail or amount, in any case. */
  text?: string | undefined;
  cursor?: string | undefined;
};

/** An amount as the pages of the emulator show it. */
export function shownAmount(parts: AppParts, amount: string, code: string): string {
  const currency: Currency = parts.gateway.settings.currencies.get(code) ?? {
    code,
    name: code,
    symbol: code,
    decimals: 2,
  };
  return formatAmount(amount, currency);
}

/** The page of the payments. */
export function PaymentsPage({ parts, filter }: { parts: AppParts; filter: PaymentFilter }) {
  const { state } = parts.gateway;
  const page = state.payments.page(PER_PAGE, filter.cursor, fits(filter));
  if (state.payments.size === 0) {
    return (
      <>
        <h1>Payments</h1>
        <NoPayments parts={parts} />
      </>
    );
  }
  return (
    <>
      <h1>Payments</h1>
      <Counts parts={parts} filter={filter} />
      <Filter filter={filter} />
      {page.data.length > 0 ? (
        <PaymentTable parts={parts} payments={page.data} />
      ) : (
        <p class="box" id="no-payment">
          No payment fits. <a href={PLACES.payments.path}>Show all</a>
        </p>
      )}
      <Pages place="payments" query={filter} next={page.nextCursor} />
    </>
  );
}

/** How many there are of each status, which is also how the list is narrowed to one. */
function Counts({ parts, filter }: { parts: AppParts; filter: PaymentFilter }) {
  const counts = paymentCounts(parts);
  return (
    <nav id="payment-counts" class="box" aria-label="How payments stand">
      <ul class="counts">
        {[undefined, ...PAYMENT_STATUSES].map((status) => (
          <li>
            <a
              href={listPath('payments', { ...filter, status, cursor: undefined })}
              aria-current={(filter.status || undefined) === status ? 'true' : undefined}
            >
              <span class="number">{status ? counts[status] : parts.gateway.state.payments.size}</span>{' '}
              {status ? <Status of={status} /> : 'all'}
            </a>
          </li>
        ))}
      </ul>
      <OutcomeBar counts={counts} />
    </nav>
  );
}

function fits({ status, mode, text }: PaymentFilter): (payment: Payment) => boolean {
  const wanted = text?.trim().toLowerCase();
  return (payment) => {
    if (status && payment.status !== status) return false;
    if (mode && payment.mode !== mode) return false;
    if (!wanted) return true;
    const { identifier, id, trx, details, customerEmail, amount } = payment;
    return [identifier, id, trx, details, customerEmail, amount].some((value) =>
      value.toLowerCase().includes(wanted),
    );
  };
}

function Filter({ filter }: { filter: PaymentFilter }) {
  const any = [['', 'any']] as const;
  return (
    <search>
      <form class="form" method="get" action={PLACES.payments.path} aria-label="Filter">
        <Choice
          name="status"
          label="Status"
          value={filter.status ?? ''}
          options={[...any, ...PAYMENT_STATUSES.map((one) => [one, one] as const)]}
        />
        <Choice
          name="mode"
          label="Mode"
          value={filter.mode ?? ''}
          options={[...any, ...MODES.map((one) => [one, one] as const)]}
        />
        <Field name="text" label="Text" value={filter.text ?? ''} hint="identifier, e-mail, amount" />
        <button type="submit" class="plain">
          Filter
        </button>
      </form>
    </search>
  );
}

function PaymentTable({ parts, payments }: { parts: AppParts; payments: readonly Payment[] }) {
  const { state } = parts.gateway;
  return (
    <div class="box" id="payments">
      <Table
        id="payment-list"
        label="Payments, newest first"
        columns={['Payment', 'Status', ['Amount', 'amount'], 'IPN', 'Mode', 'Created (UTC)']}
      >
        {payments.map((payment) => (
          <Row name={payment.id}>
            <RowHead>
              <a href={`${UI}/payments/${payment.id}`}>{payment.identifier}</a>
              <Warnings of={payment.warnings} />
            </RowHead>
            <Cell>
              <Status of={payment.status} />
            </Cell>
            <Cell kind="amount">{shownAmount(parts, payment.amount, payment.currency)}</Cell>
            <Cell label="IPN">
              <LastIpn payment={payment} state={state} />
            </Cell>
            <Cell>{payment.mode}</Cell>
            <Cell>
              <Time at={payment.createdAt} />
            </Cell>
          </Row>
        ))}
      </Table>
    </div>
  );
}

/** How many there are; what they say is on the record's own page. */
function Warnings({ of: { length } }: { of: readonly string[] }) {
  if (length === 0) return null;
  return <span class="warning">{length === 1 ? '1 warning' : `${length} warnings`}</span>;
}

function LastIpn({ payment, state }: { payment: Payment; state: State }) {
  const last = state.deliveriesOf(payment.id).at(-1);
  if (!last) return <span class="soft">–</span>;
  return (
    <a href={`${UI}/ipns/${last.id}`}>
      <Status of={last.state} />
    </a>
  );
}

function NoPayments({ parts }: { parts: AppParts }) {
  const { publicKey } = defaultMerchant(parts.gateway.state);
  const baseUrl = parts.facts.baseUrl();
  return (
    <section class="box empty" id="no-payment-yet" aria-labelledby="first">
      <h2 id="first">No payment yet</h2>
      <p>Initiate one as a merchant's code does: paste this into a terminal. It appears here by itself.</p>
      <Code
        id="sample"
        text={sampleInitiate(baseUrl, publicKey)}
        what="The command that initiates a payment"
      />
      <p>Or shorter:</p>
      <Code
        id="shorter"
        text={parts.facts.command(`gateway-sim payments create --url ${baseUrl} --amount 100 --currency USD`)}
        what="The shorter command that initiates a payment"
      />
      <p>
        <a href={PLACES.keys.path}>Both keys, and lines for your .env</a>, are under Api Key.
      </p>
    </section>
  );
}
