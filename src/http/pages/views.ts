import type { CheckoutProblem } from '../../contract/checkout.ts';
import type { DeliveryOrder, Mode, PaymentStatus } from '../../contract/vocabulary.ts';
import type { Language } from '../language.ts';

/** What every page is made with. */
export interface PageView {
  language: Language;
  /** `system` follows the browser's own choice. */
  theme: 'light' | 'dark' | 'system';
  /** The one-time value that the Content-Security-Policy allows inline styles with. */
  nonce: string;
}

/** What a customer sees of a payment on any checkout page. Amounts are formatted already. */
export interface PaymentSummary {
  id: string;
  mode: Mode;
  merchantName: string;
  /** An absolute http(s) address, or null. */
  siteLogo: string | null;
  details: string;
  amount: string;
  identifier: string;
}

/**
 * What a developer who tries a live checkout would look for elsewhere: who can pay, and where the code is. The command tells
 * or does more, and can be pasted as it stands.
 */
export type LiveTip =
  | { about: 'wallet'; email: string; command: string }
  | { about: 'no_wallet' | 'code'; command: string };

/** A checkout that waits for the customer's e-mail or verification code. */
export interface CheckoutView extends PageView {
  step: 'email' | 'code';
  payment: PaymentSummary;
  /** The checkout's path without query; each form posts below it. */
  path: string;
  /** Identifies this page: a form of it that is sent twice counts once. */
  page: string;
  /** The value of the step's one field. */
  value: string;
  /** The e-mail that the customer entered; empty on the first step. */
  email: string;
  problem: CheckoutProblem | null;
  /** A new code was sent because the customer asked for it. */
  resent: boolean;
  /** The only values that a sandbox checkout takes; null in live mode. */
  sandbox: { email: string; code: string } | null;
  /** What only an emulator would say; null in the sandbox, whose page says it all. */
  tip: LiveTip | null;
  /** The simulator panel; null when it is hidden. */
  panel: { defaultDelivery: DeliveryOrder } | null;
}

/** A checkout that is over: settled, expired, or never known. */
export interface ClosedView extends PageView {
  /** `stayed`: settled just now without a redirect. */
  reason: 'settled' | 'expired' | 'stayed' | 'unknown';
  status: PaymentStatus | null;
  payment: PaymentSummary | null;
  /** The merchant's address to go back to; null where there is none. */
  backUrl: string | null;
}

/** A request that the checkout did not take. */
export interface RefusedView extends PageView {
  /** Why, for the developer. */
  message: string;
  /** The checkout's address; null where the payment is not known. */
  backUrl: string | null;
}
