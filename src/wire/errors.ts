import type { ErrorCode, GatewayError } from '../contract/error.ts';

/** The one shape of an error on the wire. `error`, `message`: documented; `errors`: observed. */
export interface ServiceError {
  error: 'true';
  message: string;
  errors: readonly string[];
}

/** An error as the service answers it. */
export function serviceError({ message, problems }: GatewayError): ServiceError {
  return { error: 'true', message, errors: problems };
}

/** What initiate answers with 200 when deployments do: their clients decide on the body (observed). */
export const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'invalid_fields',
  'unsupported_currency',
  'invalid_api_key',
]);
