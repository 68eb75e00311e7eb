import { defaultMerchant } from '../../domain/merchant.ts';
import { type Currency, formatAmount } from '../../domain/money.ts';
import { MODES, PAYMENT_STATUSES, type Payment, type State } from '../../domain/state.ts';
import { paymentCounts } from '../control/simulator.ts';
import type { AppParts } from '../environment.ts';
import { Choice, Code, Field, Pages, Status, Table, Time } from './blocks.tsx';
import { OutcomeBar } from './chart.tsx';
import { PER_PAGE, PLACES, UI } from './places.ts';
import { sampleInitiate } from './samples.ts';

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
      <Counts parts={parts} />
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

function Counts({ parts }: { parts: AppParts }) {
  const counts = paymentCounts(parts);
  return (
    <div id="payment-counts" class="box charts">
      <ul class="counts" aria-label="Payments by status">
        {PAYMENT_STATUSES.map((status) => (
          <li>
            <span class="number">{counts[status]}</span>
            <Status of={status} />
          </li>
        ))}
      </ul>
      <OutcomeBar counts={counts} />
    </div>
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
        columns={['Payment', 'Status', 'Amount', 'IPN', 'Mode', 'Created (UTC)']}
      >
        {payments.map((payment) => (
          <tr data-key={payment.id}>
            <th scope="row">
              <a href={`${UI}/payments/${payment.id}`}>{payment.identifier}</a>
              {payment.warnings.map((warning) => (
                <span class="warning">{warning}</span>
              ))}
            </th>
            <td>
              <Status of={payment.status} />
            </td>
            <td class="amount">{shownAmount(parts, payment.amount, payment.currency)}</td>
            <td>
              <LastIpn payment={payment} state={state} />
            </td>
            <td>{payment.mode}</td>
            <td>
              <Time at={payment.createdAt} />
            </td>
          </tr>
        ))}
      </Table>
    </div>
  );
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
      <p>
        Or shorter: <code>gateway-sim payments create --url {baseUrl} --amount 100 --currency USD</code>
      </p>
      <p>Both keys, and lines for your .env, are under Api Key, above.</p>
    </section>
  );
}
