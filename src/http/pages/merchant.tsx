import type { PaymentSummary } from './views.ts';
import type { Wording } from './wording.ts';

/** The merchant's name as the page says it. */
export function merchantOf(payment: PaymentSummary | null, words: Wording): string {
  return payment?.merchantName.trim() || words.merchant;
}

/**
 * The merchant's logo in a box of fixed size. An image that does not load takes no room, so that the monogram,
 * which otherwise wraps out of sight below the image, moves up: no script, no broken image, no layout shift.
 */
export function Logo({ payment }: { payment: PaymentSummary }) {
  const monogram = /[\p{L}\p{N}]/u.exec(payment.merchantName)?.[0].toUpperCase() ?? '•';
  return (
    <div class="logo" aria-hidden="true">
      {payment.siteLogo !== null && <img src={payment.siteLogo} alt="" referrerpolicy="no-referrer" />}
      <span class="monogram">{monogram}</span>
    </div>
  );
}
