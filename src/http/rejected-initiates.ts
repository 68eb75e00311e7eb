import { describeEffects } from '../contract/active-fault.ts';
import type { RecordedRequest } from '../contract/event.ts';
import { readAnswer } from '../service/merchant.ts';
import type { AppDependencies } from './environment.ts';
import { serviceRoute } from './inject-faults.ts';

/** Initiate rejects many requests with status 200. */
export const isRejected = ({
  status,
  responseBody,
}: Pick<RecordedRequest, 'status' | 'responseBody'>): boolean =>
  status >= 400 || responseBody?.startsWith('{"error"') === true;

/** An initiate request that created no payment. */
interface RejectedInitiate {
  request: RecordedRequest;
  identifier: string;
  reason: string;
}

/** The initiate requests in the log that created no payment: their number, and the newest ones. */
export function rejectedInitiates(
  { events }: AppDependencies,
  limit: number,
): { total: number; newest: RejectedInitiate[] } {
  const all = events
    .requests()
    .filter(
      (request) =>
        request.method === 'POST' &&
        serviceRoute(request.target.split('?', 1)[0] ?? '') === 'initiate' &&
        request.paymentId === null &&
        isRejected(request),
    );
  const newest = all.slice(0, limit).map((request) => ({
    request,
    identifier: initiatedIdentifier(request.requestBody ?? ''),
    reason: reasonOf(request),
  }));
  return { total: all.length, newest };
}

function reasonOf({ status, responseBody, fault, notes }: RecordedRequest): string {
  if (fault) return `your fault rule applied: ${describeEffects(fault)}`;
  const { problems, message } = readAnswer(jsonOf(responseBody ?? ''));
  return problems?.join('. ') || message || notes.join('. ') || `returned ${status}`;
}

/** The identifier in the body of an initiate request; '' if there is none. */
export function initiatedIdentifier(body: string): string {
  if (!body.startsWith('{')) return new URLSearchParams(body).get('identifier') ?? '';
  return /"identifier"\s*:\s*"([^"]*)"/.exec(body)?.[1] ?? '';
}

/** Parses JSON; undefined for other texts. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
