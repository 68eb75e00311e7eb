import type { ClockReading } from '../../clock.ts';
import { faultInWords, isSpent } from '../../domain/fault.ts';
import { defaultMerchant } from '../../domain/merchant.ts';
import { type Currency, formatAmount } from '../../domain/money.ts';
import { timestamp } from '../../domain/settings.ts';
import type { AppParts } from '../environment.ts';
import type { DashboardView, PageView } from '../pages/views.ts';
import { INITIATE_PATHS } from '../service/initiate.ts';
import { checkoutUrl } from '../urls.ts';
import { paymentCounts } from './simulator.ts';

const SHOWN_PAYMENTS = 20;

/** What the page at `/_sim` shows. */
export function dashboardView(parts: AppParts, page: PageView): DashboardView {
  const { gateway, facts } = parts;
  const { state, settings } = gateway;
  const merchant = defaultMerchant(state);
  const baseUrl = facts.baseUrl();
  const currency = (code: string): Currency =>
    settings.currencies.get(code) ?? { code, name: code, symbol: code, decimals: 2 };
  return {
    ...page,
    version: facts.version,
    baseUrl,
    publicKey: merchant.publicKey,
    secretKey: merchant.secretKey,
    sandboxEmail: settings.sandboxEmail,
    sandboxCode: settings.sandboxCode,
    liveEmail: state.wallets.values().next().value?.email ?? '',
    dataDir: facts.dataDir,
    curl: sampleCurl(baseUrl, merchant.publicKey),
    faults: parts.faults.list.filter((fault) => !isSpent(fault)).map(faultInWords),
    clock: movedClock(parts.clock.read()),
    payments: state.payments
      .page(SHOWN_PAYMENTS, undefined, () => true)
      .data.map((payment) => ({
        id: payment.id,
        identifier: payment.identifier,
        mode: payment.mode,
        status: payment.status,
        amount: formatAmount(payment.amount, currency(payment.currency)),
        createdAt: payment.createdAt,
        checkoutUrl: checkoutUrl(payment, baseUrl),
        warnings: payment.warnings,
      })),
    counts: paymentCounts(parts),
  };
}

function movedClock({ now, frozen, ahead }: ClockReading): DashboardView['clock'] {
  return frozen || ahead !== 0 ? { now: timestamp(now), frozen } : null;
}

/** A command that initiates a sandbox payment as a merchant would, ready to paste. */
export function sampleCurl(baseUrl: string, publicKey: string): string {
  const fields = {
    public_key: publicKey,
    identifier: 'order-1',
    currency: 'USD',
    amount: '100.00',
    details: 'Order 1',
    ipn_url: 'http://localhost:3000/ipn',
    success_url: 'http://localhost:3000/paid',
    cancel_url: 'http://localhost:3000/canceled',
    site_logo: 'http://localhost:3000/logo.png',
    customer_name: 'Ada Example',
    customer_email: 'ada@example.com',
  };
  const lines = Object.entries(fields).map(([name, value]) => `-d '${name}=${value}'`);
  return [`curl ${baseUrl}${INITIATE_PATHS.sandbox}`, ...lines].join(' \\\n  ');
}
