import { formatAmount } from '../../contract/amount.ts';
import type { AppParts } from '../environment.ts';
import type { Language } from './page-view.ts';

/** An amount as pages show it. An imported state may have currencies that are not configured. */
export function shownAmount(
  { runtime }: AppParts,
  amount: string,
  code: string,
  language?: Language,
): string {
  const unknown = { code, name: code, symbol: code, decimals: 2 };
  return formatAmount(amount, runtime.settings.currencies.get(code) ?? unknown, language);
}
