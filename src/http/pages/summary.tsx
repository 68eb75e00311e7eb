import type { PaymentSummary } from './views.ts';
import type { Wording } from './wording.ts';

/** The merchant's name as the page says it. */
export function merchantOf(payment: PaymentSummary | null, words: Wording): string {
  return payment?.merchantName.trim() || words.merchant;
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
      {payment.siteLogo !== null && <img src={payment.siteLogo} alt="" referrerpolicy="no-referrer" />}
      <span class="fallback">
        <span class="monogram">{monogram}</span>
      </span>
    </div>
  );
}

/** Amounts may have 20 digits and 8 decimals: long ones are set smaller, and break between groups of digits only. */
export function Amount({ text }: { text: string }) {
  if (text.length <= 12) return <span class="amount">{text}</span>;
  const groups = text.length > 20 ? text.split(/(?<=\u202f)|(?<=,)(?=\d{3}(?!\d))/) : [text];
  return (
    <span class="amount long">
      {groups.map((group, index) => (
        <>
          {index > 0 && <wbr />}
          {group}
        </>
      ))}
    </span>
  );
}

/** What the payment is for. */
export function Facts({ payment, words }: { payment: PaymentSummary; words: Wording }) {
  return (
    <dl class="facts">
      <dt>{words.facts.details}</dt>
      <dd>{payment.details}</dd>
      <dt>{words.facts.identifier}</dt>
      <dd>{payment.identifier}</dd>
    </dl>
  );
}
