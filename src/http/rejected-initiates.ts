import type { RecordedRequest } from '../contract/event.ts';

/** Initiate rejects many requests with status 200. */
export const isRejected = ({
  status,
  responseBody,
}: Pick<RecordedRequest, 'status' | 'responseBody'>): boolean =>
  status >= 400 || responseBody?.startsWith('{"error"') === true;

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
