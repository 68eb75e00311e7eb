import { GatewayError, hint } from '../contract/error.ts';
import type { RecordedRequest } from '../contract/event.ts';
import { moment } from '../contract/time.ts';
import type { CallService } from './call-service.ts';
import type { AppDependencies } from './environment.ts';
import { serviceRoute } from './inject-faults.ts';
import { KEPT_BODY_CHARACTERS } from './record-requests.ts';

/** Headers that belong to the connection or to the browser's page, not to the request. */
const NOT_REPLAYED =
  /^(host|connection|content-length|transfer-encoding|keep-alive|expect|upgrade|te|trailer|cookie|origin|referer|accept-encoding|sec-.*|proxy-.*)$/;

/** @throws GatewayError `not_found` for a request that is not, or no longer, in the log */
export function requireRecorded({ events, runtime }: AppDependencies, id: string): RecordedRequest {
  const request = events.requests().find((one) => String(one.id) === id);
  if (request) return request;
  const since = moment(runtime.startedAt);
  const fix = hint`The request log keeps the last 1,000 requests since the emulator started, at ${since} UTC.`;
  throw new GatewayError('not_found', `request ${id} is not in the request log`, { hint: fix });
}

/** Explains why a request cannot be resent; undefined if it can. */
export function replayProblem(request: RecordedRequest, { dialect }: AppDependencies): string | undefined {
  const { method, target, requestHeaders, requestBody } = request;
  const { pathname } = new URL(target.startsWith('/') ? `http://localhost${target}` : 'http://localhost');
  if (serviceRoute(pathname, dialect) === null) {
    return "only requests to the service's own routes can be resent";
  }
  if (method === 'TRACE') return `a ${method} request cannot be resent`;
  const length = requestHeaders['content-length'];
  const isWhole =
    length === undefined
      ? (requestBody ?? '').length < KEPT_BODY_CHARACTERS && !('transfer-encoding' in requestHeaders)
      : Number(length) === Buffer.byteLength(requestBody ?? '');
  if (isWhole) return undefined;
  return `its body is incomplete in the log, which keeps at most ${KEPT_BODY_CHARACTERS} characters of text and omits bodies that were not read`;
}

/**
 * Sends a logged request to the service again, with its original secrets.
 *
 * @returns the number of the new request in the log
 * @throws GatewayError `not_found`; `wrong_state` if the request cannot be resent
 */
export async function replay(parts: AppDependencies, id: string, callService: CallService): Promise<number> {
  const request = requireRecorded(parts, id);
  const problem = replayProblem(request, parts);
  if (problem !== undefined) throw new GatewayError('wrong_state', problem);
  const { method, target, requestHeaders, requestBody } = request;
  const headers = Object.entries(requestHeaders).filter(([name]) => !NOT_REPLAYED.test(name));
  const body = ['GET', 'HEAD'].includes(method) ? null : requestBody;
  const { recorded } = await callService({ method, target, headers: Object.fromEntries(headers), body });
  return recorded?.id ?? request.id;
}
