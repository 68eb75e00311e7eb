import type { Payment } from '../../domain/state.ts';
import type { Wording } from './messages.ts';

/** What a customer sees of a payment on any checkout page. The amount is formatted already. */
export interface PaymentSummary
  extends Pick<Payment, 'id' | 'mode' | 'status' | 'siteLogo' | 'details' | 'amount' | 'identifier'> {
  merchantName: string;
  /** What a receipt says beside; null for a payment that nobody paid. */
  receipt: { trx: string; date: string; payer: string } | null;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The merchant's name as the page says it. One that runs from right to left is kept from turning what follows. */
export function merchantOf(payment: PaymentSummary | null, words: Pick<Wording, 'merchant'>): string {
  const name = payment?.merchantName.trim() || words.merchant;
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/**
 * The merchant's logo in a box of fixed size. The monogram's line is as wide as the box: beside an image it wraps
 * out of sight, and where the image did not load and takes no room, it is what one sees. No script, no broken image,
 * no layout shift.
 */
export function Logo({ payment }: { payment: PaymentSummary }) {
  const monogram = /[\p{L}\p{N}]/u.exec(payment.merchantName)?.[0].toUpperCase() ?? '•';
  return (
    <div class="logo" aria-hidden="true">
      {payment.siteLogo !== null && (
        <span class="plate">
          <img src={payment.siteLogo} alt="" referrerpolicy="no-referrer" />
        </span>
      )}
      <span class="fallback">
        <span class="monogram">{monogram}</span>
      </span>
    </div>
  );
}

/**
 * The amount. One of up to 20 digits and 8 decimals is set smaller, and breaks between groups of digits only. The
 * limits are what a phone of 360 pixels has room for.
 */
export function Amount({ text }: { text: string }) {
  const { length } = text.replace(/[\s.,]/g, '');
  if (length <= 8) return <span class="amount">{text}</span>;
  if (length <= 10) return <span class="amount medium">{text}</span>;
  return (
    <span class="amount long">
      {text
        .split(/(?<=\u202f)|(?<=,)(?=\d{3}(?!\d))/)
        .flatMap((group, index) => [index > 0 && <wbr />, group])}
    </span>
  );
}

/** What the payment is for. The texts are the merchant's: each has the direction of its own script. */
export function Facts({ payment, words }: { payment: PaymentSummary; words: Wording }) {
  return (
    <dl class="facts">
      <dt>{words.facts.details}</dt>
      <dd dir="auto">{payment.details}</dd>
      <dt>{words.facts.identifier}</dt>
      <dd dir="auto">{payment.identifier}</dd>
      {payment.receipt &&
        (['date', 'trx', 'payer'] as const).map((name) => (
          <>
            <dt>{words.facts[name]}</dt>
            <dd dir="auto">{payment.receipt?.[name]}</dd>
          </>
        ))}
    </dl>
  );
}
