import type { ErrorCode, GatewayError } from '../contract/error.ts';
import type { Choices } from '../contract/profiles.ts';

/** The body of an error. */
export function serviceError({ message, problems }: Pick<GatewayError, 'message' | 'problems'>): object {
  return { error: 'true', message, errors: [...problems] };
}

/** Errors of initiate that deployments answer with status 200, because clients check only the body (observed: refusal-*-status*). */
export const REJECTIONS: ReadonlySet<ErrorCode> = new Set([
  'forbidden',
  'invalid_fields',
  'unsupported_currency',
  'invalid_api_key',
]);

/** The message of server copies for an unknown currency (observed: refusal-currency-bare*). */
const CURRENCY_MESSAGE = 'Currency not supported';

/** The body of such an error. */
export function rejectionBody(error: GatewayError, { fieldRefusal, otherRefusal }: Choices): object {
  const { code, message, problems } = error;
  const isField = code === 'invalid_fields';
  // A default that every client understands (chosen: refusal-field-message*).
  if ((isField ? fieldRefusal : otherRefusal) === 'message-and-errors') return serviceError(error);
  // As server copies do (observed: refusal-field-errors*).
  if (isField) return { error: 'yes', errors: [...problems] };
  return { error: 'true', message: code === 'unsupported_currency' ? CURRENCY_MESSAGE : message };
}

/** The response of server copies to a second visit to a settled payment (observed: checkout-again-error*). */
export const SETTLED_ERROR = { error: 'true', message: 'Invalid transaction request' } as const;
