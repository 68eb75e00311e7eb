import { PAYMENT_OUTCOMES } from '../../../contract/outcomes.ts';
import { DELIVERY_ORDERS } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Section, Time } from './blocks.tsx';
import { Field, Form, Submit } from './forms.tsx';
import { recordPath } from './page.tsx';

export function Settle({ parts, payment }: { parts: AppParts; payment: Payment }) {
  const { auto, expiresAt } = payment;
  const order = parts.runtime.settings.delivery;
  const checkoutUrl = parts.dialect.checkoutUrl(payment, parts.runtime.baseUrl());
  return (
    <Section id="settle" title="Settle it">
      <Form to={`${recordPath('payments', payment.id)}/settle`} forgets>
        <Field name="delivery" label="Order of IPN and redirect" value={order} options={DELIVERY_ORDERS} />
        <div class="inline">
          {Object.entries(PAYMENT_OUTCOMES).map(([outcome, { label }]) => (
            <Submit send={['outcome', outcome]} look={outcome === 'approve' ? 'primary' : 'plain'}>
              {label}
            </Submit>
          ))}
        </div>
      </Form>
      <p class="inline">
        <a class="button plain" href={checkoutUrl} target="_blank" rel="noopener">
          Open checkout
        </a>
        <span class="soft">In a new tab, as the customer sees it.</span>
      </p>
      {auto && (
        <p class="soft">
          It settles itself ({auto.outcome}) at <Time at={auto.at} zone />.
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
