import { type FinalStatus, namesOf } from './vocabulary.ts';

interface OutcomeMember {
  /** For the command line. */
  description: string;
  /** For buttons. */
  label: string;
  /** The final status of the payment. */
  status: FinalStatus;
  /** The `status` field of its IPN: `success` is documented, the others are chosen. */
  ipnStatus: string;
  /** The redirect address; null for no redirect. */
  redirect: 'successUrl' | 'cancelUrl' | null;
}

/**
 * Every outcome. success_url and cancel_url: documented. A failed payment goes to cancel_url, the only address for
 * "not paid"; an expired one does not redirect (chosen).
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

/** The final statuses that send an IPN only with `ipnOn` (chosen). */
export const SENT_ON_REQUEST = OUTCOMES.map((outcome) => PAYMENT_OUTCOMES[outcome].status).filter(
  (status) => status !== 'succeeded',
);
