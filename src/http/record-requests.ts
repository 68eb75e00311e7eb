import type { MiddlewareHandler } from 'hono';
import type { GatewayError } from '../contract/error.ts';
import { timestamp } from '../contract/timestamp.ts';
import type { AppContext, AppEnvironment, AppParts, RequestNotes } from './environment.ts';
import { notesOf } from './errors.ts';

/** Maximum characters of a request body in the request log. */
const KEPT_BODY_CHARACTERS = 16_384;

/** Remembers every request to the service and its response. What happens under /_sim is not the service's. */
export function recordRequests({ events, clock }: AppParts): MiddlewareHandler<AppEnvironment> {
  return async (c, next) => {
    const notes: RequestNotes = {};
    c.set('exchange', notes);
    if (c.req.path.startsWith('/_sim')) return next();
    const started = performance.now();
    await next();
    events.record({
      at: timestamp(clock.now()),
      method: c.req.method,
      target: c.req.url.replace(/^\w+:\/\/[^/]*/, ''),
      requestHeaders: (c.env?.incoming?.headers ?? c.req.header()) as Record<string, string>,
      requestBody: beginning(notes.requestBody ?? null),
      status: notes.status ?? c.res.status,
      responseBody: notes.responseBody ?? null,
      durationMs: Math.round((performance.now() - started) * 10) / 10,
      paymentId: notes.paymentId ?? null,
      notes: notes.notes ?? [],
    });
  };
}

/** Tells the log of an error and what the service answers with it. */
export function noteError(c: AppContext, error: GatewayError, { runtime, dialect }: AppParts): void {
  const notes = c.get('exchange');
  notes.notes = notesOf(error, runtime.style);
  notes.responseBody = JSON.stringify(dialect.serviceError(error));
}

/** The beginning of a long text. A mere slice would keep the whole of it in memory. */
function beginning(text: string | null): string | null {
  if (text === null || text.length <= KEPT_BODY_CHARACTERS) return text;
  return Buffer.from(text.slice(0, KEPT_BODY_CHARACTERS)).toString();
}
