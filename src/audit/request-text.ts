import { curlRequest } from '../contract/curl.ts';
import { FORM_TYPE } from '../contract/media-types.ts';
import type { Mask } from '../contract/secrets.ts';
import type { ExchangeRequest, Observation } from '../delivery/exchange.ts';

/** A curl command that repeats a request; null if curl cannot. */
export function curlOf({
  method,
  url,
  headers = [],
  contentType = FORM_TYPE,
  body,
  manner = 'whole',
}: ExchangeRequest) {
  if (manner !== 'whole' || (body !== undefined && (typeof body !== 'string' || body.length > 20_000))) {
    return null;
  }
  const type: readonly (readonly [string, string])[] =
    body === undefined ? [] : [['Content-Type', contentType]];
  // The cookies are those of the audit's own orders.
  const request = { ...(method !== undefined && { method }), url, headers: [...type, ...headers], body };
  return curlRequest(request, (_, value) => value);
}

/** Curl commands that repeat requests one after another; null if curl cannot. */
export function curlsOf(requests: readonly ExchangeRequest[]): string | null {
  const commands = requests.map(curlOf);
  return commands.includes(null) ? null : commands.join('\n');
}

/** A curl command that repeats all requests at the same time; null if curl cannot. */
export function curlOfAll(requests: readonly ExchangeRequest[]): string | null {
  const commands = requests.map(curlOf);
  if (commands.some((one) => one === null)) return null;
  const parts = commands.map((one) => one?.replace(/^curl /, ''));
  return `curl --parallel --parallel-immediate ${parts.join(' \\\n  --next ')}`;
}

/** An observation as text. */
export function described({ status, body, error, headers }: Observation, mask: Mask): string {
  if (status === null) return error ? `no response: ${error}` : 'no response';
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
  const line = mask(body.trim().split(/\r?\n/, 1)[0] ?? '', { most: 120 });
  const to = location === undefined ? '' : ` to ${location}`;
  return `answered ${status}${to}${line ? ` “${line}”` : ' with an empty body'}`;
}

export function requestText({ method, url, body, manner }: ExchangeRequest, mask: Mask): string {
  const how = manner === undefined || manner === 'whole' ? '' : ` (${manner})`;
  const shown =
    typeof body === 'string'
      ? mask(decoded(body.replaceAll('+', ' ')), { most: 600 })
      : `${body?.length ?? 0} bytes`;
  return `${method ?? (body === undefined ? 'GET' : 'POST')} ${url}${how}${body === undefined ? '' : `: ${shown}`}`;
}

/** A percent-encoded text; unchanged if it is malformed. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
