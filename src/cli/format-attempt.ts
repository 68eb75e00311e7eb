import type { DeliveryView } from '../library/control-client.ts';

/** An attempt as it was on the wire, line by line: what went out (`>`), what came back (`<`), what went wrong (`!`). */
export function bothSides(attempt: DeliveryView['attempts'][number]): string {
  const { number, startedAt, durationMs, url, error } = attempt;
  const side = (
    mark: string,
    first: string,
    headers: readonly (readonly [string, string])[],
    body: string | null,
  ) =>
    [first, ...headers.map((pair) => pair.join(': ')), '', body ?? '']
      .flatMap((text) => text.split(/\r?\n/))
      .map((line) => `  ${mark} ${line}`);
  return [
    `Attempt ${number} at ${startedAt}, ${durationMs} ms`,
    ...side('>', `POST ${url}`, attempt.requestHeaders, attempt.requestBody),
    ...(attempt.responseStatus === null
      ? []
      : side('<', `HTTP ${attempt.responseStatus}`, attempt.responseHeaders, attempt.responseBody)),
    ...(error === null ? [] : [`  ! ${error}`]),
  ].join('\n');
}
