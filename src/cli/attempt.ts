import type { DeliveryView } from '../client.ts';

/** An attempt as it was on the wire: what went out (`>`), what came back (`<`), what went wrong (`!`). */
export function bothSides(attempt: DeliveryView['attempts'][number]): string {
  const { number, startedAt, durationMs, url, error } = attempt;
  const lines = (headers: readonly (readonly [string, string])[]) => headers.map((pair) => pair.join(': '));
  return [
    `Attempt ${number} at ${startedAt}, ${durationMs} ms`,
    ...[`POST ${url}`, ...lines(attempt.requestHeaders), '', attempt.requestBody].map(
      (line) => `  > ${line}`,
    ),
    ...(attempt.responseStatus === null
      ? []
      : [`HTTP ${attempt.responseStatus}`, ...lines(attempt.responseHeaders), '', attempt.responseBody ?? '']
    ).map((line) => `  < ${line}`),
    ...(error === null ? [] : [`  ! ${error}`]),
  ].join('\n');
}
