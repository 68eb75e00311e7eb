import { defaultMerchant } from '../../domain/merchant.ts';
import { type Currency, formatAmount } from '../../domain/money.ts';
import { DELIVERY_ORDERS } from '../../domain/settings.ts';
import { MODES, OUTCOMES, PAYMENT_STATUSES, type Payment, type State } from '../../domain/state.ts';
import { type TimelineEntry, timeline } from '../../domain/timeline.ts';
import { paymentCounts } from '../control/simulator.ts';
import type { AppParts } from '../environment.ts';
import { checkoutUrl } from '../urls.ts';
import { OutcomeBar } from './chart.tsx';
import { Action, Choice, Code, Facts, Field, More, PER_PAGE, Status, Table, Time, UI } from './frame.tsx';
import { DeliveryRow } from './ipns.tsx';
import { initiateAgain, sampleInitiate } from './samples.ts';

/** What a list of payments is narrowed to. */
export interface PaymentFilter {
  status?: string | undefined;
  mode?: string | undefined;
  /** Part of identifier, id, details, e-mail or amount, in any case. */
  text?: string | undefined;
  cursor?: string | undefined;
}

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
  const counts = paymentCounts(parts);
  const page = state.payments.page(PER_PAGE, filter.cursor, (payment) => fits(payment, filter));
  const any = state.payments.size > 0;
  return (
    <>
      <h1>Payments</h1>
      <div id="payment-counts" data-live class={any ? 'box charts' : undefined}>
        {any && (
          <>
            <ul class="counts" aria-label="Payments by status">
              {PAYMENT_STATUSES.map((status) => (
                <li>
                  <span class="number">{counts[status]}</span>
                  <Status of={status} />
                </li>
              ))}
            </ul>
            <OutcomeBar counts={counts} />
          </>
        )}
      </div>
      {any && <Filter filter={filter} />}
      <div id="payments" data-live>
        {page.data.length > 0 ? (
          <PaymentTable parts={parts} payments={page.data} />
        ) : any ? (
          <p class="box">
            No payment fits. <a href="/_sim">Show all</a>
          </p>
        ) : (
          <NoPayments parts={parts} />
        )}
        <More path="/_sim" query={filter} cursor={page.nextCursor} />
      </div>
    </>
  );
}

function fits(payment: Payment, { status, mode, text }: PaymentFilter): boolean {
  if (status && payment.status !== status) return false;
  if (mode && payment.mode !== mode) return false;
  if (!text) return true;
  const wanted = text.toLowerCase();
  const { identifier, id, trx, details, customerEmail, amount } = payment;
  return [identifier, id, trx, details, customerEmail, amount].some((value) =>
    value.toLowerCase().includes(wanted),
  );
}

function Filter({ filter }: { filter: PaymentFilter }) {
  const any = [['', 'any']] as const;
  return (
    <search>
      <form class="form" method="get" action="/_sim" aria-label="Filter">
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
    <div class="box">
      <Table
        id="payment-list"
        label="Payments, newest first"
        columns={['Payment', 'Status', 'Amount', 'IPN', 'Mode', 'Created (UTC)']}
      >
        {payments.map((payment) => (
          <tr>
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
  return (
    <section class="box empty" aria-labelledby="first">
      <h2 id="first">No payment yet</h2>
      <p>Initiate one as a merchant's code does. It appears here by itself.</p>
      <Code
        id="sample"
        text={sampleInitiate(parts.facts.baseUrl(), publicKey)}
        what="The command that initiates a payment"
      />
      <p>
        Or with <code>gateway-sim payments create --amount 100 --currency USD</code>. The keys are under Api
        Key, above.
      </p>
    </section>
  );
}

/** The page of one payment: what can be done to it, its story, its IPNs. */
export function PaymentPage({ parts, payment }: { parts: AppParts; payment: Payment }) {
  const { state } = parts.gateway;
  const deliveries = state.deliveriesOf(payment.id);
  const merchant = state.merchants.get(payment.merchantId) ?? defaultMerchant(state);
  return (
    <>
      <div class="heading">
        <h1>{payment.identifier}</h1>
        <a href="/_sim">Back to the list</a>
      </div>
      <div id="payment" data-live class="columns">
        <section class="box" aria-label="Payment">
          <Facts
            rows={[
              ['Status', <Status of={payment.status} />],
              ['Amount', shownAmount(parts, payment.amount, payment.currency)],
              ['Charge', payment.charge],
              ['Mode', payment.mode],
              ['Payment', <code>{payment.id}</code>],
              ['Transaction', <code>{payment.trx}</code>],
              ['Merchant', merchant.name],
              ['Customer', `${payment.customerName}, ${payment.customerEmail}`],
              ['Details', payment.details],
              ['IPN to', <code>{payment.ipnUrl}</code>],
              ['On success', <code>{payment.successUrl}</code>],
              ['On cancel', <code>{payment.cancelUrl}</code>],
              ...(payment.settledBy === null
                ? []
                : [['Settled by', settlerInWords(payment.settledBy)] satisfies [string, string]]),
            ]}
          />
          {payment.warnings.map((warning) => (
            <p class="warning">{warning}</p>
          ))}
        </section>
        <div class="stack">
          {payment.status === 'pending' && <Settle parts={parts} payment={payment} />}
          <section class="box" aria-labelledby="again">
            <h2 id="again">As curl</h2>
            <details id="curl-details">
              <summary>Initiate this payment again</summary>
              <Code
                id="curl"
                text={initiateAgain(parts.facts.baseUrl(), payment, merchant)}
                what="The command that initiates it"
              />
            </details>
          </section>
        </div>
      </div>
      <section class="box" aria-labelledby="story">
        <h2 id="story">Timeline</h2>
        <ol class="timeline" id="timeline" data-live>
          {timeline(payment, state).map((entry) => (
            <Step entry={entry} />
          ))}
        </ol>
      </section>
      <section class="box" aria-labelledby="deliveries">
        <h2 id="deliveries">IPNs</h2>
        <div id="payment-ipns" data-live>
          {deliveries.length > 0 ? (
            <Table
              id="payment-ipn-list"
              label="IPNs of this payment"
              columns={['IPN', 'To', 'State', 'Attempts', 'Last', 'Action']}
            >
              {deliveries.map((delivery) => (
                <DeliveryRow delivery={delivery} state={state} from={`${UI}/payments/${payment.id}`} />
              ))}
            </Table>
          ) : (
            <p class="soft">None yet: settling the payment sends one.</p>
          )}
        </div>
      </section>
    </>
  );
}

function settlerInWords(by: NonNullable<Payment['settledBy']>): string {
  return {
    customer: 'the customer',
    panel: 'the simulator panel',
    control: 'command, dashboard or control API',
    auto: 'itself',
    clock: 'the clock: its time was up',
  }[by];
}

const OUTCOME_NAMES = { approve: 'Approve', cancel: 'Cancel', fail: 'Fail', expire: 'Expire' } as const;

function Settle({ parts, payment }: { parts: AppParts; payment: Payment }) {
  return (
    <section class="box" aria-labelledby="settle">
      <h2 id="settle">Settle it</h2>
      <Action to={`${UI}/payments/${payment.id}/settle`}>
        <Choice
          name="delivery"
          label="Order of IPN and redirect"
          value={parts.gateway.settings.delivery}
          options={DELIVERY_ORDERS.map((order) => [order, order])}
        />
        <div class="inline">
          {OUTCOMES.map((outcome) => (
            <button
              type="submit"
              name="outcome"
              value={outcome}
              class={outcome === 'approve' ? undefined : 'plain'}
            >
              {OUTCOME_NAMES[outcome]}
            </button>
          ))}
        </div>
      </Action>
      <p>
        <a href={checkoutUrl(payment, parts.facts.baseUrl())}>Open the checkout</a> to go through it as the
        customer does.
      </p>
      {payment.auto && (
        <p class="soft">
          It settles itself ({payment.auto.outcome}) at <Time at={payment.auto.at} />.
        </p>
      )}
      {payment.expiresAt !== null && (
        <p class="soft">
          It expires at <Time at={payment.expiresAt} />.
        </p>
      )}
    </section>
  );
}

const EVENT_NAMES: Record<TimelineEntry['event'], string> = {
  initiated: 'Initiated',
  opened: 'Checkout opened',
  email_entered: 'E-mail entered',
  email_refused: 'E-mail refused',
  code_sent: 'Code sent',
  code_refused: 'Code refused',
  settled: 'Settled',
  redirected: 'Browser redirected',
  ipn_attempted: 'IPN attempted',
  ipn_due: 'IPN due',
};

function Step({ entry }: { entry: TimelineEntry }) {
  const { at, event, detail, warnings, deliveryId } = entry;
  return (
    <li>
      <Time at={at} precise />
      <strong>{EVENT_NAMES[event]}</strong>{' '}
      {deliveryId === null ? detail : <a href={`${UI}/ipns/${deliveryId}`}>{detail}</a>}
      {warnings.map((warning) => (
        <span class="warning">{warning}</span>
      ))}
    </li>
  );
}
