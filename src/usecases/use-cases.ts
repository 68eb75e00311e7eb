import type { ReadonlyState } from '../domain/state.ts';
import { cardUseCases } from './cards.ts';
import { checkoutUseCases } from './checkout.ts';
import { clockUseCases } from './clock.ts';
import type { UseCaseDependencies } from './dependencies.ts';
import { ipnUseCases } from './ipns.ts';
import { merchantUseCases, walletUseCases } from './merchants.ts';
import { paymentUseCases } from './payments.ts';
import { stateUseCases } from './state.ts';

/** The use cases by noun. Each is one commit, plus the wait for its effects. */
export function createUseCases(parts: UseCaseDependencies) {
  return {
    /** What is stored. Only a use case changes it. */
    store: parts.store as { readonly state: ReadonlyState },
    /** What changed in the shop's database. */
    rows: parts.rows,
    payments: paymentUseCases(parts),
    checkout: checkoutUseCases(parts),
    ipns: ipnUseCases(parts),
    cards: cardUseCases(parts),
    merchants: merchantUseCases(parts),
    wallets: walletUseCases(parts),
    faults: parts.faults,
    clock: clockUseCases(parts),
    state: stateUseCases(parts),
    events: parts.events,
  };
}
export type UseCases = ReturnType<typeof createUseCases>;
