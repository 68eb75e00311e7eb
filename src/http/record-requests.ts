import type { MiddlewareHandler } from 'hono';
import { describeEffects } from '../contract/active-fault.ts';
import { firstProblems, type GatewayError, renderHint } from '../contract/error.ts';
import { timestamp } from '../contract/time.ts';
import { serviceError } from '../service/errors.ts';
import { headersOf } from './body.ts';
import type {
  AppContext,
  AppDependencies,
  AppEnvironment,
  RequestLog,
  ServerRuntime,
} from './environment.ts';

/** Maximum number of characters of a body in the request log. */
const KEPT_BODY_CHARACTERS = 16_384;

/** Maximum number of problems per request in the log. */
const NOTED = 6;

/** Records every request to the service and its response, but none under /_sim. */
export function recordRequests(parts: AppDependencies): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    const log: RequestLog = {};
    c.set('requestLog', log);
    c.set('secrets', parts.secrets);
    if (c.req.path.startsWith('/_sim')) return next();
    log.id = parts.events.nextRequestId();
    const started = performance.now();
    await next();
    const { fault = null } = log;
    const recorded = parts.events.record({
      id: log.id,
      at: timestamp(parts.clock.now()),
      method: c.req.method,
      target: targetOf(c),
      requestHeaders: headersOf(c) as Record<string, string>,
      requestBody: beginningOf(log.requestBody),
      status: log.status ?? c.res.status,
      responseBody: beginningOf(log.responseBody),
      durationMs: Math.round((performance.now() - started) * 10) / 10,
      paymentId: log.paymentId ?? null,
      fault,
      notes: [...(fault ? [`fault rule: ${describeEffects(fault)}`] : []), ...(log.notes ?? [])],
    });
    c.env?.onRecorded?.(recorded);
  };
}

function beginningOf(body: string | null = null): string | null {
  if (body === null || body.length <= KEPT_BODY_CHARACTERS) return body;
  // Copied, because a slice keeps the whole text in memory.
  return Buffer.from(body.slice(0, KEPT_BODY_CHARACTERS)).toString();
}

/** Path and query of a request, as received. */
export function targetOf({ req }: AppContext): string {
  return req.url.replace(/^\w+:\/\/[^/]*/, '');
}

/** Adds an error and its response body to the log. @returns the body, by default the error of the service */
export function noteError(
  log: RequestLog,
  error: GatewayError,
  { runtime }: Pick<AppDependencies, 'runtime'>,
  answer: object = serviceError(error),
): string {
  const body = JSON.stringify(answer);
  log.notes = notesOf(error, runtime);
  log.responseBody = body;
  return body;
}

/** The log entry of an error: its problems and the fix. */
export function notesOf(
  { problems, problemCount, hint }: GatewayError,
  { style }: Pick<ServerRuntime, 'style'>,
): string[] {
  const noted = firstProblems(problems, problemCount, NOTED);
  return hint ? [...noted, renderHint(hint, style)] : [...noted];
}
