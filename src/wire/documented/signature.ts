import { createHmac } from 'node:crypto';
import type { IpnComposer } from '../../domain/ipn.ts';

/**
 * The signature of an IPN (documented: signature, signature-upper-case, signature-live): upper-case hexadecimal HMAC-SHA256 over the text of the amount followed
 * directly by the identifier, keyed with the merchant's secret key.
 *
 * @param amount the text of `data.amount`, exactly as sent
 */
export function sign(amount: string, identifier: string, secretKey: string): string {
  return createHmac('sha256', secretKey)
    .update(amount + identifier, 'utf8')
    .digest('hex')
    .toUpperCase();
}

/** No amount begins with this text, so no IPN has this signature. */
export const fingerprint: IpnComposer['fingerprint'] = (secretKey) => sign('fingerprint', '', secretKey);
