import { type CheckoutProblem, stepOf } from '../contract/checkout.ts';
import { GatewayError } from '../contract/error.ts';
import { changeEmail, codeProblem, enterEmail, refuseCode, sendCode } from '../domain/checkout.ts';
import { requirePayment } from '../domain/payment.ts';
import { requirePending, type Settlement, settle } from '../domain/settle.ts';
import type { Outcome, Payment, State } from '../domain/state.ts';
import type { UseCaseParts } from './parts.ts';
import type { Payments } from './payments.ts';

/** What a step of the checkout led to. */
export type StepResult = { problem: CheckoutProblem } | { problem: null; redirectUrl: string | null };

/** The use cases of the hosted checkout: what a customer does. */
export class Checkout {
  readonly #parts: UseCaseParts;
  readonly #payments: Payments;

  constructor(parts: UseCaseParts, payments: Payments) {
    this.#parts = parts;
    this.#payments = payments;
  }

  /** The customer enters an e-mail. */
  enterEmail(payment: Payment, email: string): Promise<CheckoutProblem | null> {
    return this.#step(payment, (state, current) => enterEmail(state, current, email, this.#parts.context()));
  }

  /** The customer goes back to the first step. */
  changeEmail(payment: Payment): Promise<null> {
    return this.#step(payment, (_, current) => changeEmail(current));
  }

  /** The customer asks for a new code (live mode). */
  resendCode(payment: Payment): Promise<null> {
    return this.#step(payment, (_, current) =>
      current.mode === 'live' && current.payerEmail !== null
        ? sendCode(current, current.payerEmail, this.#parts.context())
        : { change: {}, result: null },
    );
  }

  /** The customer enters the verification code; the right one pays. */
  async enterCode(payment: Payment, code: string): Promise<StepResult> {
    const { delivery } = this.#parts.settings;
    const context = this.#parts.context();
    const outcome = await this.#step<CheckoutProblem | Settlement>(payment, (state, current) => {
      if (stepOf(current) !== 'code') {
        throw new GatewayError('wrong_state', 'the e-mail comes before the verification code');
      }
      const problem = codeProblem(state, current, code, context);
      if (problem) return refuseCode(current, problem, context.now);
      return settle(state, current, { outcome: 'approve', delivery, by: 'customer' }, context);
    });
    if (typeof outcome === 'string') return { problem: outcome };
    const { redirectUrl } = await this.#payments.afterSettling(outcome, delivery);
    return { problem: null, redirectUrl };
  }

  #step<Result>(
    payment: Payment,
    rule: (state: State, current: Payment) => Outcome<Result>,
  ): Promise<Result> {
    return this.#parts.store.commit((state) => {
      const current = requirePayment(state, payment.id);
      requirePending(current);
      return rule(state, current);
    });
  }
}
