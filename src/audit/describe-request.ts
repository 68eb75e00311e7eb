import { curlRequest } from '../contract/curl.ts';
import { FORM, type Observation, type ProbeRequest } from './client.ts';

/** A curl command that repeats a request; null if curl cannot. */
export function curlOf({
  method,
  url,
  headers = [],
  contentType = FORM,
  body,
  manner = 'whole',
}: ProbeRequest) {
  if (manner !== 'whole' || (body !== undefined && (typeof body !== 'string' || body.length > 20_000))) {
    return null;
  }
  const type: readonly (readonly [string, string])[] =
    body === undefined ? [] : [['Content-Type', contentType]];
  return curlRequest({ ...(method !== undefined && { method }), url, headers: [...type, ...headers], body });
}

/** A curl command that repeats all requests at the same time; null if curl cannot. */
export function curlOfAll(requests: readonly ProbeRequest[]): string | null {
  const commands = requests.map(curlOf);
  if (commands.some((one) => one === null)) return null;
  const parts = commands.map((one) => one?.replace(/^curl /, ''));
  return `curl --parallel --parallel-immediate ${parts.join(' \\\n  --next ')}`;
}

/** An observation as text. */
export function described({ status, body, error, headers }: Observation): string {
  if (status === null) return error ? `no response: ${error}` : 'no response';
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
  const line = body.trim().split(/\r?\n/, 1)[0]?.slice(0, 120) ?? '';
  const to = location === undefined ? '' : ` to ${location}`;
  return `answered ${status}${to}${line ? ` “${line}”` : ' with an empty body'}`;
}

/** A request as text. */
export function requestText({ method, url, body, manner }: ProbeRequest): string {
  const how = manner === undefined || manner === 'whole' ? '' : ` (${manner})`;
  const shown = typeof body === 'string' ? decoded(body).slice(0, 600) : `${body?.length ?? 0} bytes`;
  return `${method ?? (body === undefined ? 'GET' : 'POST')} ${url}${how}${body === undefined ? '' : `: ${shown}`}`;
}

function decoded(body: string): string {
  try {
    return decodeURIComponent(body.replaceAll('+', ' '));
  } catch {
    return body;
  }
}
