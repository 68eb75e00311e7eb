import { type CheckoutProblem, stepOf } from '../contract/checkout.ts';
import { GatewayError } from '../contract/error.ts';
import { changeEmail, codeProblem, deadCode, enterEmail, refuseCode, sendCode } from '../domain/checkout.ts';
import { requirePayment } from '../domain/payment.ts';
import { requirePending, type Settlement, settle } from '../domain/settle.ts';
import type { Payment, RuleResult, State } from '../domain/state.ts';
import type { UseCaseParts } from './parts.ts';
import { afterSettling } from './payments.ts';

/** What a step of the checkout led to. */
export type StepResult = { problem: CheckoutProblem } | { problem: null; redirectUrl: string | null };

/** What a customer does on the hosted checkout. */
export function checkoutUseCases(parts: UseCaseParts) {
  const { store, context } = parts;
  const step = <Result>(
    { id }: Payment,
    rule: (state: State, current: Payment) => RuleResult<Result>,
  ): Promise<Result> =>
    store.commit((state) => {
      const current = requirePayment(state, id);
      requirePending(current);
      return rule(state, current);
    });
  return {
    /** @param requestId of the request that asks for it, if one does: here and below */
    enterEmail: (payment: Payment, email: string, requestId?: number): Promise<CheckoutProblem | null> =>
      step(payment, (state, current) => enterEmail(state, current, email, context(requestId))),

    /** The customer goes back to the first step. */
    changeEmail: (payment: Payment): Promise<null> => step(payment, (_, current) => changeEmail(current)),

    /** What the customer should know of the verification code before entering it. */
    codeProblem: (payment: Payment): CheckoutProblem | null => deadCode(store.state, payment, context().now),

    /** The customer asks for a new code (live mode). */
    resendCode: (payment: Payment, requestId?: number): Promise<null> =>
      step(payment, (_, current) =>
        current.mode === 'live' && current.payerEmail !== null
          ? sendCode(current, current.payerEmail, context(requestId))
          : { change: {}, result: null },
      ),

    /** The customer enters the verification code; the right one pays. */
    async enterCode(payment: Payment, code: string, requestId?: number): Promise<StepResult> {
      const { delivery } = parts.settings;
      const given = context(requestId);
      const outcome = await step<CheckoutProblem | Settlement>(payment, (state, current) => {
        if (stepOf(current) !== 'code') {
          throw new GatewayError('wrong_state', 'the e-mail comes before the verification code');
        }
        const problem = codeProblem(state, current, code, given);
        if (problem) return refuseCode(current, code, problem, given);
        return settle(state, current, { outcome: 'approve', delivery, by: 'customer' }, given);
      });
      if (typeof outcome === 'string') return { problem: outcome };
      const { redirectUrl } = await afterSettling(parts, outcome, delivery);
      return { problem: null, redirectUrl };
    },
  };
}
