import { formatAmount } from '../../contract/amount.ts';
import type { Payment } from '../../domain/state.ts';
import type { AppParts } from '../environment.ts';
import type { Wording } from './messages.ts';
import type { Language } from './page-view.ts';

/** What a customer sees of a payment on any checkout page. The amount is already formatted. */
export interface PaymentSummary
  extends Pick<Payment, 'id' | 'mode' | 'status' | 'siteLogo' | 'details' | 'amount' | 'identifier'> {
  merchantName: string;
  /** The other facts on a receipt; null for a payment that is not paid. */
  receipt: { trx: string; date: string; payer: string } | null;
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** The merchant's name as pages show it. A right-to-left name is isolated, so it does not reorder the text after it. */
export function merchantOf(payment: PaymentSummary | null, words: Pick<Wording, 'merchant'>): string {
  const name = payment?.merchantName.trim() || words.merchant;
  return RIGHT_TO_LEFT.test(name) ? `\u2068${name}\u2069` : name;
}

/**
 * The merchant's logo in a box of fixed size, or a monogram as wide as the box. Next to an image, the monogram wraps
 * out of sight. If the image does not load, it is visible. No script, no broken image, no layout shift.
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
 * The amount. A long amount (up to 20 digits and 8 decimals) is smaller, and breaks only between groups of digits. The
 * limits fit a phone 360 pixels wide.
 */
export function Amount({ text }: { text: string }) {
  const { length } = text.replace(/[\s.,]/g, '');
  if (length <= 8) return <span class="amount">{text}</span>;
  if (length <= 10) return <span class="amount medium">{text}</span>;
  return <span class="amount long">{inGroups(text)}</span>;
}

/** Lets an amount break only between groups of digits. */
export function inGroups(text: string) {
  const groups = text.split(/(?<=\u202f)|(?<=,)(?=\d{3}(?!\d))/);
  return groups.flatMap((group, index) => [index > 0 && <wbr />, group]);
}

/** What the payment is for. The merchant wrote the texts, so each may be left-to-right or right-to-left. */
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

/** Formats an amount for a page. An imported state may have currencies that are not configured. */
export function shownAmount(
  { runtime }: AppParts,
  amount: string,
  code: string,
  language?: Language,
): string {
  const unknown = { code, name: code, symbol: code, decimals: 2 };
  return formatAmount(amount, runtime.settings.currencies.get(code) ?? unknown, language);
}
