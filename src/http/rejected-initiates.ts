import type { RecordedRequest } from '../contract/event.ts';
import type { AppDependencies } from './environment.ts';
import { serviceRoute } from './inject-faults.ts';

/** Initiate rejects many requests with status 200. */
export const isRejected = ({
  status,
  responseBody,
}: Pick<RecordedRequest, 'status' | 'responseBody'>): boolean =>
  status >= 400 || responseBody?.startsWith('{"error"') === true;

/** The number of initiate requests in the log that created no payment. */
export function rejectedInitiates({ events }: AppDependencies): number {
  return events
    .requests()
    .filter(
      (request) =>
        request.method === 'POST' &&
        serviceRoute(request.target.split('?', 1)[0] ?? '') === 'initiate' &&
        request.paymentId === null &&
        isRejected(request),
    ).length;
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
