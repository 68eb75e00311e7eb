import type { TimelineEntry } from '../../../contract/payment.ts';
import { DELIVERY_ORDERS, OUTCOMES } from '../../../contract/vocabulary.ts';
import { defaultMerchant } from '../../../domain/merchant.ts';
import type { Attempt, Payment } from '../../../domain/state.ts';
import { timeline } from '../../../domain/timeline.ts';
import { checkoutUrl } from '../../../wire/paths.ts';
import type { AppParts } from '../../environment.ts';
import { Action, Choice, Code, Facts, Heading, Status, Time } from './blocks.tsx';
import { DeliveryTable } from './ipns.tsx';
import { PER_PAGE, UI } from './navigation.ts';
import { shownAmount } from './payments.tsx';
import { initiateAgain } from './samples.ts';

/** So many steps of a story are told. */
const STEPS = 100;

/** The page of one payment: what can be done to it, its story, its IPNs. */
export function PaymentPage({ parts, payment }: { parts: AppParts; payment: Payment }) {
  const { state } = parts.gateway;
  const steps = timeline(payment, state);
  const deliveries = state.deliveriesOf(payment.id);
  const merchant = state.merchants.get(payment.merchantId) ?? defaultMerchant(state);
  const isPending = payment.status === 'pending';
  return (
    <>
      <Heading title={payment.identifier} place="payments">
        <span class="sum">{shownAmount(parts, payment.amount, payment.currency)}</span>
        <Status of={payment.status} />
      </Heading>
      {payment.warnings.map((warning) => (
        <p class="warning">{warning}</p>
      ))}
      {/* What matters next comes first: to settle it, or what became of its IPN. */}
      {!isPending && <Ipns parts={parts} payment={payment} />}
      <div class="columns uneven" id="payment">
        <div class="stack">
          {isPending && <Settle parts={parts} payment={payment} />}
          <section class="box" id="story" aria-labelledby="story-name">
            <h2 id="story-name">
              Timeline <span class="soft">UTC</span>
            </h2>
            {steps.length > STEPS && <p class="soft">{steps.length - STEPS} earlier steps are not shown.</p>}
            <ol class="timeline">
              {folded(steps.slice(-STEPS)).map((entries) => (
                <Step entries={entries} isAlone={deliveries.length === 1} />
              ))}
            </ol>
          </section>
          <section class="box" id="again" aria-labelledby="again-name">
            <h2 id="again-name">Copy as curl</h2>
            <details id="curl-details">
              <summary>Initiate this payment again</summary>
              <Code
                id="curl"
                text={initiateAgain(parts.facts.baseUrl(), payment, merchant)}
                what="The command that initiates it"
              />
            </details>
            <p class="soft">That of an IPN is on the IPN's page.</p>
          </section>
        </div>
        <PaymentFacts parts={parts} payment={payment} merchant={merchant.name} />
      </div>
      {isPending && <Ipns parts={parts} payment={payment} />}
    </>
  );
}

function PaymentFacts({ parts, payment, merchant }: { parts: AppParts; payment: Payment; merchant: string }) {
  return (
    <section class="box" id="facts" aria-label="Payment">
      <Facts
        rows={[
          ['Charge', shownAmount(parts, payment.charge, payment.currency)],
          ['Mode', payment.mode],
          ['Payment', <code>{payment.id}</code>],
          ['Transaction', <code>{payment.trx}</code>],
          ['Merchant', merchant],
          ['Customer', `${payment.customerName}, ${payment.customerEmail}`],
          ['Details', payment.details],
          ['IPN to', <code>{payment.ipnUrl}</code>],
          ['On success', <code>{payment.successUrl}</code>],
          ['On cancel', <code>{payment.cancelUrl}</code>],
          payment.settledBy === null ? undefined : ['Settled by', SETTLED_BY[payment.settledBy]],
        ]}
      />
    </section>
  );
}

const SETTLED_BY = {
  customer: 'the customer',
  panel: 'the simulator panel',
  control: 'command, dashboard or control API',
  auto: 'itself',
  clock: 'the clock: its time was up',
} as const satisfies Record<NonNullable<Payment['settledBy']>, string>;

function Ipns({ parts, payment }: { parts: AppParts; payment: Payment }) {
  const { state } = parts.gateway;
  const deliveries = state.deliveriesOf(payment.id).toReversed();
  return (
    <section class="box" id="payment-ipns" aria-labelledby="payment-ipns-name">
      <h2 id="payment-ipns-name">IPNs</h2>
      {deliveries.length > 0 ? (
        <DeliveryTable
          id="payment-ipn-list"
          label="IPNs of this payment, newest first"
          deliveries={deliveries.slice(0, PER_PAGE)}
          state={state}
          from={`${UI}/payments/${payment.id}`}
          ofOne
        />
      ) : (
        <p class="soft">
          {payment.status === 'pending' ? 'None yet: settling the payment sends one.' : 'None was sent.'}
        </p>
      )}
    </section>
  );
}

const OUTCOME_NAMES = { approve: 'Approve', cancel: 'Cancel', fail: 'Fail', expire: 'Expire' } as const;

function Settle({ parts, payment }: { parts: AppParts; payment: Payment }) {
  return (
    <section class="box" id="settle" aria-labelledby="settle-name">
      <h2 id="settle-name">Settle it</h2>
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
      <p class="inline">
        <a
          class="button plain"
          href={checkoutUrl(payment, parts.facts.baseUrl())}
          target="_blank"
          rel="noopener"
        >
          Open checkout
        </a>
        <span class="soft">In a new tab, as the customer sees it.</span>
      </p>
      {payment.auto && (
        <p class="soft">
          It settles itself ({payment.auto.outcome}) at <Time at={payment.auto.at} zone />.
        </p>
      )}
      {payment.expiresAt !== null && (
        <p class="soft">
          It expires at <Time at={payment.expiresAt} zone />.
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
  ipn_attempted: 'IPN attempt',
  ipn_due: 'IPN due',
};

/** Attempts of one delivery that end alike, one after the other, are one step. */
function folded(steps: readonly TimelineEntry[]): [TimelineEntry, ...TimelineEntry[]][] {
  const groups: [TimelineEntry, ...TimelineEntry[]][] = [];
  for (const step of steps) {
    const group = groups.at(-1);
    if (group && isRepeated(group[0], step)) group.push(step);
    else groups.push([step]);
  }
  return groups;
}

function isRepeated(one: TimelineEntry, next: TimelineEntry): boolean {
  return (
    one.attempt !== null &&
    next.attempt !== null &&
    one.deliveryId === next.deliveryId &&
    answerTo(one.attempt) === answerTo(next.attempt)
  );
}

function answerTo({ error, responseStatus }: Pick<Attempt, 'error' | 'responseStatus'>): string {
  return error ?? `answered ${responseStatus}`;
}

function Step(props: { entries: readonly [TimelineEntry, ...TimelineEntry[]]; isAlone: boolean }) {
  const { entries, isAlone } = props;
  const [{ at, event, detail, deliveryId, attempt }] = entries;
  const last = entries.at(-1)?.attempt;
  const mark = event === 'ipn_due' ? 'due' : attempt?.error ? 'failed' : undefined;
  return (
    <li class={mark}>
      <Time at={at} precise />
      {deliveryId === null ? (
        <>
          <strong>{EVENT_NAMES[event]}</strong> {detail}
        </>
      ) : (
        <>
          <a href={`${UI}/ipns/${deliveryId}`}>
            <strong>
              {EVENT_NAMES[event]} {attempt?.number}
              {attempt && last && last.number !== attempt.number && ` to ${last.number}`}
            </strong>
          </a>
          {attempt && `: ${answerTo(attempt)}`}
          {!isAlone && <span class="soft"> {deliveryId}</span>}
        </>
      )}
    </li>
  );
}
