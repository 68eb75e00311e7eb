import { type FinalStatus, namesOf } from './vocabulary.ts';

interface OutcomeMember {
  /** As a command line puts it. */
  description: string;
  /** As a button puts it. */
  label: string;
  /** The status that the payment ends in. */
  status: FinalStatus;
  /** The `status` that its IPN carries: `success` is documented, the others are chosen. */
  ipnStatus: string;
  /** Which address the browser goes to; null where it stays. */
  redirect: 'successUrl' | 'cancelUrl' | null;
}

/**
 * Every outcome. success_url and cancel_url: documented. A failed payment goes to cancel_url, the only address for
 * "not paid"; an expired one stays on its page (chosen).
 */
export const PAYMENT_OUTCOMES = {
  approve: {
    description: 'the customer pays',
    label: 'Approve',
    status: 'succeeded',
    ipnStatus: 'success',
    redirect: 'successUrl',
  },
  cancel: {
    description: 'the customer cancels',
    label: 'Cancel',
    status: 'canceled',
    ipnStatus: 'canceled',
    redirect: 'cancelUrl',
  },
  fail: {
    description: 'the payment fails',
    label: 'Fail',
    status: 'failed',
    ipnStatus: 'failed',
    redirect: 'cancelUrl',
  },
  expire: {
    description: 'the payment expires',
    label: 'Expire',
    status: 'expired',
    ipnStatus: 'expired',
    redirect: null,
  },
} as const satisfies Record<string, OutcomeMember>;
export type PaymentOutcome = keyof typeof PAYMENT_OUTCOMES;
export const OUTCOMES = namesOf(PAYMENT_OUTCOMES);

/** The ends of a payment that send an IPN only where somebody asks for it (chosen). */
export const SENT_ON_REQUEST = OUTCOMES.map((outcome) => PAYMENT_OUTCOMES[outcome].status).filter(
  (status) => status !== 'succeeded',
);
