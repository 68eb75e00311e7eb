import type { Delivery, Payment } from '../domain/state.ts';
import type { Verdict } from '../wire/dialect.ts';

/** What is false in an IPN, in a few words; undefined in a genuine one. */
export function forgeryIn(
  verdict: Verdict,
  { body }: Delivery,
  payment: Payment | undefined,
): string | undefined {
  const changes: string[] = [];
  const change = (name: string, was: string | undefined, is: string | null) => {
    if (was !== undefined && is !== null && is !== was) changes.push(`${name} ${was} → ${is}`);
  };
  change('amount', payment?.amount, verdict.amount);
  change('identifier', payment?.identifier, verdict.identifier);
  change('currency', payment?.currency, currencyIn(body));
  if (verdict.authentic && verdict.status !== 'success') changes.push(`status ${verdict.status}`);
  if (!verdict.authentic && !changes.length) changes.push('signature');
  return changes.join(', ') || undefined;
}

function currencyIn(body: string): string | null {
  if (!body.startsWith('{')) return new URLSearchParams(body).get('data[currency][code]');
  return /"currency":\{"code":"([^"]*)"/.exec(body)?.[1] ?? null;
}
