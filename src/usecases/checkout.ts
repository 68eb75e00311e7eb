import { type CheckoutProblem, stepOf } from '../contract/checkout.ts';
import { GatewayError } from '../contract/error.ts';
import {
  changeEmail,
  codeProblem,
  enterEmail,
  rejectCode,
  resendCode,
  unusableCode,
} from '../domain/checkout.ts';
import { requirePayment } from '../domain/payment.ts';
import { requirePending, type Settlement, settle } from '../domain/settle.ts';
import type { Payment, RuleResult, State } from '../domain/state.ts';
import type { UseCaseDependencies } from './dependencies.ts';
import { afterSettling } from './payments.ts';

export type CheckoutResult = { problem: CheckoutProblem } | { problem: null; redirectUrl: string | null };

/** The customer's steps on the hosted checkout. */
export function checkoutUseCases(parts: UseCaseDependencies) {
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
    /** @param requestId the request that caused this, if any, here and in the methods below */
    enterEmail: (payment: Payment, email: string, requestId?: number): Promise<CheckoutProblem | null> =>
      step(payment, (state, current) => enterEmail(state, current, email, context(requestId))),

    /** The customer returns to the first step. */
    changeEmail: (payment: Payment): Promise<null> => step(payment, (_, current) => changeEmail(current)),

    /** Why the current verification code cannot be used; null if it can. */
    codeProblem: (payment: Payment): CheckoutProblem | null =>
      unusableCode(store.state, payment, context().now),

    /** The customer requests a new code (live mode). */
    resendCode: (payment: Payment, requestId?: number): Promise<null> =>
      step(payment, (_, current) => resendCode(current, context(requestId))),

    async enterCode(payment: Payment, code: string, requestId?: number): Promise<CheckoutResult> {
      const { delivery } = parts.settings;
      const ruleContext = context(requestId);
      const outcome = await step<CheckoutProblem | Settlement>(payment, (state, current) => {
        if (stepOf(current) !== 'code') {
          throw new GatewayError('wrong_state', 'enter the e-mail before the verification code');
        }
        const problem = codeProblem(state, current, code, ruleContext);
        if (problem) return rejectCode(current, code, problem, ruleContext);
        return settle(state, current, { outcome: 'approve', delivery, by: 'customer' }, ruleContext);
      });
      if (typeof outcome === 'string') return { problem: outcome };
      const { redirectUrl } = await afterSettling(parts, outcome, delivery);
      return { problem: null, redirectUrl };
    },
  };
}
