import { GatewayError } from '../../../contract/error.ts';
import { parseInput } from '../../../contract/input.ts';
import { SettleInput } from '../../../contract/payment.ts';
import type { Tone } from '../../../contract/verdict.ts';
import { DELIVERY_ORDERS, IPN_TIMINGS, OUTCOMES, PAYMENT_OUTCOMES } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import { checkoutUrlOf } from '../../../service/names.ts';
import { attemptId } from '../../../usecases/story.ts';
import { mappedAddresses } from '../../control/views.ts';
import type { AppDependencies } from '../../environment.ts';
import { Link, shownAmount } from '../layout.tsx';
import { Facts, Fold, ShopPill, Status, Time } from './blocks.tsx';
import { Field, Form, Submit } from './forms.tsx';
import { Story } from './ipns.tsx';
import { type FormAction, type PageRenderer, recordPage } from './page.tsx';
import { recordPath, recordRoute } from './paths.ts';

/** Shows one payment: its verdict, actions and timeline. */
export const paymentPage: PageRenderer = ({ parts, id }) => {
  const payment = parts.payments.require(id);
  const merchant = parts.store.state.merchants.get(payment.merchantId) ?? parts.merchants.default;
  const verdict = parts.payments.verdict(payment);
  const deliveries = parts.store.state.deliveriesOf(payment.id);
  const from = recordPath('payments', payment.id);
  const heading = {
    title: payment.identifier,
    sum: shownAmount(parts, payment.amount, payment.currency),
    mode: payment.mode,
    status: (
      <>
        <Pills payment={payment} parts={parts} />
        <Beside payment={payment} parts={parts} />
      </>
    ),
  };
  return recordPage(
    'payments',
    payment.id,
    heading,
    <Story
      verdict={verdict}
      ipn={deliveries.find((delivery) => delivery.id === verdict.ipn)}
      payment={payment}
      steps={parts.payments.story(payment)}
      deliveries={deliveries}
      parts={parts}
      from={from}
      more={
        <Fold id="facts" title="Payment details">
          <Facts rows={factsOf(parts, payment, merchant.name)} />
        </Fold>
      }
    >
      {payment.status === 'pending' && <Settle parts={parts} payment={payment} from={from} />}
    </Story>,
  );
};

const TIMINGS = DELIVERY_ORDERS.map((order) => [order, `${IPN_TIMINGS[order]} (${order})`] as const);

/** The buttons of a pending payment, each with the status that it leads to. */
function Settle({ parts, payment, from }: { parts: AppDependencies; payment: Payment; from: string }) {
  const { auto, expiresAt } = payment;
  const order = parts.runtime.settings.delivery;
  const checkoutUrl = checkoutUrlOf(payment, parts.runtime.baseUrl());
  return (
    <div id="settle">
      <Form to={`${recordPath('payments', payment.id)}/settle`} hidden={{ from }} label="Finish this payment">
        <ul class="outcomes">
          {OUTCOMES.map((outcome) => (
            <li>
              <Submit send={['outcome', outcome]} look={outcome === 'approve' ? 'primary' : 'plain'}>
                {PAYMENT_OUTCOMES[outcome].label}
              </Submit>
              <Status of={PAYMENT_OUTCOMES[outcome].status} />
            </li>
          ))}
        </ul>
        <Field name="delivery" label="IPN timing" value={order} options={TIMINGS} wide />
      </Form>
      <p class="inline">
        <a class="button plain" href={checkoutUrl} target="_blank" rel="noopener">
          Open checkout
        </a>
        <span class="soft">
          Pay like a customer, in a new tab.
          {auto && [` It settles automatically (${auto.outcome}) at `, <Time at={auto.at} zone />, '.']}
          {expiresAt !== null && [' It expires at ', <Time at={expiresAt} zone />, '.']}
        </span>
      </p>
    </div>
  );
}

const CUSTOMER: Readonly<Record<Payment['status'], readonly [words: string, tone: Tone]>> = {
  pending: ['not paid yet', 'waiting'],
  succeeded: ['paid', 'good'],
  canceled: ['canceled', 'waiting'],
  failed: ['payment failed', 'waiting'],
  expired: ['did not pay in time', 'waiting'],
};

/** Answers two questions: did the customer pay, and does the shop know? */
function Pills({ payment, parts }: { payment: Payment; parts: AppDependencies }) {
  const [paid, paidTone] = CUSTOMER[payment.status];
  return (
    <>
      <span class={`pill ${paidTone}`} data-pill="customer">
        Customer: {paid}
      </span>
      <ShopPill of={parts.payments.shopState(payment)} />
    </>
  );
}

/** Links to the payments that were initiated before and after this one. */
function Beside({ payment, parts }: { payment: Payment; parts: AppDependencies }) {
  const ids = [...parts.store.state.payments.values()].map(({ id }) => id);
  const index = ids.indexOf(payment.id);
  const link = (id: string | undefined, name: string, rel: string) =>
    id !== undefined && (
      <Link href={recordPath('payments', id)} rel={rel}>
        {name}
      </Link>
    );
  return (
    <nav class="inline" aria-label="Payments">
      {link(ids[index + 1], 'Newer', 'prev')}
      {link(ids[index - 1], 'Older', 'next')}
    </nav>
  );
}

function factsOf(parts: AppDependencies, payment: Payment, merchant: string) {
  const mapped = mappedAddresses(payment, parts.runtime);
  const shownUrl = (name: 'ipnUrl' | 'successUrl' | 'cancelUrl') =>
    mapped?.[name] ? `${payment[name]} mapped to ${mapped[name]}` : payment[name];
  return [
    ['Charge', shownAmount(parts, payment.charge, payment.currency)],
    ['Payment', <code>{payment.id}</code>],
    ['Transaction', <code>{payment.trx}</code>],
    ['Merchant', merchant],
    ['Customer', `${payment.customerName}, ${payment.customerEmail}`],
    ['Details', payment.details],
    ['IPN to', <code>{shownUrl('ipnUrl')}</code>],
    ['On success', <code>{shownUrl('successUrl')}</code>],
    ['On cancel', <code>{shownUrl('cancelUrl')}</code>],
  ] as const;
}

const PAYMENT = recordRoute('payments');

export const PAYMENT_FORMS: Readonly<Record<string, FormAction>> = {
  [`${PAYMENT}/settle`]: async ({ payments }, { outcome, delivery }, id) => {
    const input = parseInput(SettleInput, { outcome, ...(delivery && { delivery }) });
    await payments.settle(id, { ...input, by: 'control' });
  },
  [`${PAYMENT}/send`]: async ({ payments, ipns }, _, id) => {
    await ipns.fire({ payment: payments.require(id).id });
  },
  [`${PAYMENT}/run`]: async ({ payments, ipns, clock }, { ipn = '', attempt = '' }, id) => {
    const payment = payments.require(id);
    const { paymentId, nextAttemptAt, attemptCount } = ipns.require(ipn);
    if (paymentId !== payment.id) throw new GatewayError('not_found', `${ipn} is not an IPN of this payment`);
    // A second click, for example in another tab, must not run one more attempt.
    if (nextAttemptAt !== null && attemptCount < Number(attempt)) {
      await clock.move({ advance: atLeast(Date.parse(nextAttemptAt) - clock.now()) });
    }
    return `${recordPath('payments', payment.id)}#${attemptId(ipn, Number(attempt))}`;
  },
};

/** Writes a duration, rounded up. Durations have at most nine digits, so long ones are in seconds. */
function atLeast(milliseconds: number): string {
  const whole = Math.max(0, Math.ceil(milliseconds));
  return whole < 1e9 ? `${whole}ms` : `${Math.ceil(whole / 1_000)}s`;
}
