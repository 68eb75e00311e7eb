import { usage } from '../contract/error.ts';
import { formOf } from '../wire/encoding.ts';
import { requireObject } from './arguments.ts';
import { dialect } from './merchant-client.ts';

/** @throws GatewayError `usage` */
export function sign(ipn: { amount: string; identifier: string }, secretKey: string) {
  requireObject('the IPN', ipn);
  const { amount, identifier } = ipn;
  requireText('amount', amount);
  requireText('identifier', identifier);
  requireText('the secret key', secretKey);
  return dialect.sign(amount, identifier, secretKey);
}

/** @throws GatewayError `usage` without a key: anyone could forge a signature with an empty key */
export function verify(given: string | object | null | undefined, secretKey: string) {
  requireText('the secret key', secretKey);
  const { valid, reasons } = dialect.verify(bodyOf(given), { secretKey });
  return { valid, reason: valid ? null : reasons.join('; ') };
}

function bodyOf(given: string | object | null | undefined): string {
  if (typeof given !== 'object' || given === null) return String(given ?? '');
  if (ArrayBuffer.isView(given))
    return Buffer.from(given.buffer, given.byteOffset, given.byteLength).toString();
  return Symbol.iterator in given
    ? new URLSearchParams([...(given as FormData)] as [string, string][]).toString()
    : formOf(given).toString();
}

function requireText(what: string, text: unknown): void {
  if (typeof text === 'string' && text !== '') return;
  throw usage(`${what} must be non-empty text (got ${JSON.stringify(text)})`);
}
