import { STATUS_CODES } from 'node:http';
import type { Attempt, Delivery } from '../contract/delivery.ts';
import { shownHeaders } from '../contract/secrets.ts';

/**
 * Deliveries as a HAR 1.2 document, with an entry for each attempt, ordered by start. Values that were not measured
 * are -1, as the format requires. An attempt without a response has status 0.
 */
export function harOf(deliveries: readonly Delivery[], version: string) {
  const entries = deliveries
    .flatMap(({ id, attempts }) => attempts.map((attempt) => entry(id, attempt)))
    .sort((a, b) => Date.parse(a.startedDateTime) - Date.parse(b.startedDateTime));
  return { log: { version: '1.2', creator: { name: 'gateway-sim', version }, entries } };
}

function entry(id: string, attempt: Attempt) {
  const { number, startedAt, durationMs, error, url, requestHeaders, requestBody, responseHeaders } = attempt;
  const status = attempt.responseStatus ?? 0;
  const answer = attempt.responseBody ?? '';
  const namedPairs = (pairs: Iterable<readonly [string, string]>) =>
    [...pairs].map(([name, value]) => ({ name, value }));
  const header = (headers: Attempt['requestHeaders'], wanted: string) =>
    headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? '';
  const common = { httpVersion: 'HTTP/1.1', cookies: [] };
  return {
    startedDateTime: startedAt,
    time: durationMs,
    request: {
      method: 'POST',
      url,
      ...common,
      headers: namedPairs(shownHeaders(requestHeaders)),
      queryString: namedPairs(URL.canParse(url) ? new URL(url).searchParams : []),
      postData: { mimeType: header(requestHeaders, 'content-type'), params: [], text: requestBody },
      headersSize: -1,
      bodySize: Buffer.byteLength(requestBody),
    },
    response: {
      status,
      statusText: STATUS_CODES[status] ?? '',
      ...common,
      headers: namedPairs(responseHeaders),
      content: {
        size: Buffer.byteLength(answer),
        mimeType: header(responseHeaders, 'content-type'),
        text: answer,
      },
      redirectURL: header(responseHeaders, 'location'),
      headersSize: -1,
      bodySize: attempt.responseStatus === null ? -1 : Buffer.byteLength(answer),
    },
    cache: {},
    timings: { send: 0, wait: durationMs, receive: 0 },
    comment: `${id} attempt ${number}${error === null ? '' : `: ${error}`}`,
  };
}
