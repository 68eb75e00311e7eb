import { quoted } from '../../../contract/curl.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import type { Payment } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Code } from './blocks.tsx';

/** A command that initiates a sandbox payment as a merchant would, ready to paste. */
export function SampleInitiate({ parts, merchant }: { parts: AppParts; merchant: Merchant }) {
  const baseUrl = parts.runtime.baseUrl();
  const text = curl(`${baseUrl}${parts.dialect.paths.initiate.sandbox}`, {
    public_key: merchant.publicKey,
    identifier: 'order-1',
    currency: 'USD',
    amount: '100.00',
    details: 'Order 1',
    ipn_url: 'http://localhost:3000/ipn',
    success_url: `${baseUrl}/_sim/ui/paid`,
    cancel_url: `${baseUrl}/_sim/ui/canceled`,
    site_logo: `${baseUrl}/_sim/ui/logo.svg`,
    customer_name: 'Ada Example',
    customer_email: 'ada@example.com',
  });
  return <Code id="sample" text={text} what="The command that initiates a payment" />;
}

/** The command that initiates the same payment again. */
export function initiateAgain({ runtime, dialect }: AppParts, payment: Payment, merchant: Merchant): string {
  return curl(`${runtime.baseUrl()}${dialect.paths.initiate[payment.mode]}`, {
    public_key: merchant.publicKey,
    identifier: payment.identifier,
    currency: payment.currency,
    amount: payment.amount,
    details: payment.details,
    ipn_url: payment.ipnUrl,
    success_url: payment.successUrl,
    cancel_url: payment.cancelUrl,
    ...(payment.siteLogo !== null && { site_logo: payment.siteLogo }),
    checkout_theme: payment.checkoutTheme,
    customer_name: payment.customerName,
    customer_email: payment.customerEmail,
  });
}

/** A command that creates a card as a merchant would. */
export function sampleCard(baseUrl: string, secretKey: string): string {
  const body = JSON.stringify({
    currency_code: 'USD',
    title: 'Travel',
    name_on_card: 'Ada Example',
    email: 'ada@example.com',
    amount: '250.00',
  });
  return [
    `curl ${baseUrl}/api/cards/save`,
    `-H ${quoted(`Authorization: Bearer ${secretKey}`)}`,
    `-H 'Content-Type: application/json'`,
    `-d ${quoted(body)}`,
  ].join(' \\\n  ');
}

function curl(url: string, fields: Readonly<Record<string, string>>): string {
  const lines = Object.entries(fields).map(
    ([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`,
  );
  return [`curl ${url}`, ...lines].join(' \\\n  ');
}
