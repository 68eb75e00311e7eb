import { STATUS_CODES } from 'node:http';
import type { Attempt, Delivery } from '../contract/delivery.ts';

/**
 * Deliveries as a HAR 1.2 document, with an entry for each attempt, ordered by start. Values that were not measured
 * are -1, as the format requires. An attempt without a response has status 0.
 */
export function harOf(deliveries: readonly Delivery[], version: string) {
  const attempts = deliveries
    .flatMap(({ id, attempts }) => attempts.map((attempt) => ({ id, attempt })))
    .sort((a, b) => Date.parse(a.attempt.startedAt) - Date.parse(b.attempt.startedAt));
  return {
    log: {
      version: '1.2',
      creator: { name: 'gateway-sim', version },
      entries: attempts.map(({ id, attempt }) => entry(id, attempt)),
    },
  };
}

function entry(id: string, attempt: Attempt) {
  const { number, startedAt, durationMs, error } = attempt;
  return {
    startedDateTime: startedAt,
    time: durationMs,
    request: request(attempt),
    response: response(attempt),
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    comment: `${id} attempt ${number}${error === null ? '' : `: ${error}`}`,
  };
}

function request({ url, requestHeaders, requestBody }: Attempt) {
  const query = URL.canParse(url) ? [...new URL(url).searchParams] : [];
  return {
    method: 'POST',
    url,
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: named(requestHeaders),
    queryString: named(query),
    postData: { mimeType: header(requestHeaders, 'content-type'), params: [], text: requestBody },
    headersSize: -1,
    bodySize: Buffer.byteLength(requestBody),
  };
}

function response({ responseStatus, responseHeaders, responseBody }: Attempt) {
  const text = responseBody ?? '';
  const status = responseStatus ?? 0;
  return {
    status,
    statusText: STATUS_CODES[status] ?? '',
    httpVersion: 'HTTP/1.1',
    cookies: [],
    headers: named(responseHeaders),
    content: { size: Buffer.byteLength(text), mimeType: header(responseHeaders, 'content-type'), text },
    redirectURL: header(responseHeaders, 'location'),
    headersSize: -1,
    bodySize: responseStatus === null ? -1 : Buffer.byteLength(text),
  };
}

function named(entries: readonly (readonly [string, string])[]): { name: string; value: string }[] {
  return entries.map(([name, value]) => ({ name, value }));
}

function header(headers: Attempt['requestHeaders'], wanted: string): string {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
}
