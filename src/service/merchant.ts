import type { RecordedRequest } from '../contract/event.ts';
import type { PaymentRequest } from '../contract/payment.ts';
import { MODES } from '../contract/vocabulary.ts';
import { INITIATE_NAMES, INITIATE_PATHS, PAYMENT_PARAMETER, toWire } from './names.ts';

/*
 * The merchant's side, for commands, library and samples. It loads no schemas.
 */

/** Values of the fields of initiate. Undefined values are not sent. */
export type InitiateValues = {
  [Name in 'publicKey' | keyof PaymentRequest]?: string | null | undefined;
};

/** Where a merchant initiates a sandbox payment. */
export function initiateUrl(baseUrl: string): string {
  return baseUrl + INITIATE_PATHS.sandbox;
}

/** The form that initiates a payment, by the names on the wire. */
export function initiateForm(fields: InitiateValues): Record<string, string> {
  return toWire(INITIATE_NAMES, fields);
}

export function paymentIdOf(checkoutUrl: string): string {
  return new URL(checkoutUrl).searchParams.get(PAYMENT_PARAMETER) ?? '';
}

export function isSandboxPath(path: string): boolean {
  return path.startsWith('/sandbox/');
}

/** Whether an initiate was rejected, possibly with status 200. */
export function isRejectedInitiate({ method, target, paymentId }: RecordedRequest): boolean {
  const [path = ''] = target.split('?', 1);
  // The routes may be served below a path, too.
  const isInitiate = MODES.some((mode) => path.endsWith(INITIATE_PATHS[mode]));
  return method !== 'OPTIONS' && isInitiate && paymentId === null;
}

/** The relevant fields of a response body; undefined where it has none. */
export function readAnswer(body: unknown) {
  const answer = (body ?? {}) as Partial<Answer>;
  return {
    checkoutUrl: answer.success === 'ok' ? answer.url : undefined,
    cardId: answer.data?.id,
    // Deployments may send only a list (observed: refusal-field-errors*).
    message: answer.message ?? answer.errors?.[0],
    problems: answer.errors,
  };
}

/** All fields of success and error responses. */
interface Answer {
  success: string;
  url: string;
  data: { id: string };
  message: string;
  errors: string[];
}
