import { quoted, shellWord } from '../../../contract/curl.ts';
import { CARD_DEFAULTS, withPaymentDefaults } from '../../../contract/defaults.ts';
import type { Merchant } from '../../../contract/merchant.ts';
import type { ServiceCall } from '../../../wire/dialect.ts';
import type { AppParts } from '../../environment.ts';
import { Code } from './blocks.tsx';

/** Shows a command, ready to paste, that initiates a sandbox payment as a merchant would. */
export function SampleInitiate({ parts, merchant }: { parts: AppParts; merchant: Merchant }) {
  const baseUrl = parts.runtime.baseUrl();
  const values = withPaymentDefaults({ identifier: 'order-1' }, { baseUrl, publicKey: merchant.publicKey });
  const call = parts.dialect.merchant.initiate('sandbox', values);
  return <Code id="sample" text={curlOf(call, baseUrl)} what="The command that initiates a payment" />;
}

/** Returns a command that creates a card as a merchant would. */
export function sampleCard({ runtime, dialect }: AppParts, { secretKey }: Merchant): string {
  const call = dialect.merchant.createCard(CARD_DEFAULTS);
  return curlOf(call, runtime.baseUrl(), secretKey);
}

/** Returns the curl command for a service call. @param secretKey sent as the bearer token */
export function curlOf({ path, form = {}, json }: ServiceCall, baseUrl: string, secretKey?: string): string {
  return [
    `curl ${shellWord(baseUrl + path)}`,
    ...(secretKey === undefined ? [] : [`-H ${quoted(`Authorization: Bearer ${secretKey}`)}`]),
    ...Object.entries(form).map(([name, value]) => `--data-urlencode ${quoted(`${name}=${value}`)}`),
    ...(json ? [`-H 'Content-Type: application/json'`, `-d ${quoted(JSON.stringify(json))}`] : []),
  ].join(' \\\n  ');
}
