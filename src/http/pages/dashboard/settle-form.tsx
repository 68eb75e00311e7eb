import { OUTCOMES, PAYMENT_OUTCOMES, type PaymentOutcome } from '../../../contract/outcomes.ts';
import { DELIVERY_ORDERS, IPN_TIMINGS } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Section, Status, Time } from './blocks.tsx';
import { type ButtonLook, Field, Form, Submit } from './forms.tsx';
import { recordPath } from './page.tsx';

const TIMINGS = DELIVERY_ORDERS.map((order) => [order, `${IPN_TIMINGS[order]} (${order})`] as const);

/** Each outcome looks different. */
const LOOKS: Readonly<Record<PaymentOutcome, ButtonLook>> = {
  approve: 'primary',
  cancel: 'plain',
  fail: 'danger',
  expire: 'late',
};

/** The state machine of a pending payment: its arrows are the buttons that settle it. @param props `from`: the page to return to */
export function Settle(props: { parts: AppParts; payment: Payment; from: string }) {
  const { parts, payment, from } = props;
  const { auto, expiresAt } = payment;
  const order = parts.runtime.settings.delivery;
  const checkoutUrl = parts.dialect.checkoutUrl(payment, parts.runtime.baseUrl());
  return (
    <Section id="settle" title="Finish this payment">
      <p class="inline">
        <a class="button plain" href={checkoutUrl} target="_blank" rel="noopener">
          Open checkout
        </a>
        <span class="soft">Pay like a customer, in a new tab. Or skip the checkout:</span>
      </p>
      <Form to={`${recordPath('payments', payment.id)}/settle`} hidden={{ from }} forgets>
        <Field name="delivery" label="IPN timing" value={order} options={TIMINGS} wide />
        <div class="machine">
          <Status of={payment.status} />
          <ul>
            {OUTCOMES.map((outcome) => (
              <li>
                <Submit send={['outcome', outcome]} look={LOOKS[outcome]}>
                  {PAYMENT_OUTCOMES[outcome].label}
                </Submit>
                <Status of={PAYMENT_OUTCOMES[outcome].status} />
              </li>
            ))}
          </ul>
        </div>
      </Form>
      {auto && (
        <p class="soft">
          It settles automatically ({auto.outcome}) at <Time at={auto.at} zone />.
        </p>
      )}
      {expiresAt !== null && (
        <p class="soft">
          It expires at <Time at={expiresAt} zone />.
        </p>
      )}
    </Section>
  );
}
