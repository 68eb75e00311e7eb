import type { IncomingMessage } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { GatewayError } from '../contract/error.ts';
import { createApp } from './app.ts';
import { takeChunks } from './body.ts';
import type { AppParts } from './environment.ts';
import { asGatewayError, statusOf } from './errors.ts';
import type { RequestListener } from './listener.ts';

/**
 * Creates a listener that answers requests with the routes of the app.
 *
 * @param replaceGlobals whether to replace the fetch globals with faster ones
 * @param report receives every internal error
 */
export function requestListener(
  parts: AppParts,
  { host, replaceGlobals }: { host: string; replaceGlobals: boolean },
  report: (error: unknown) => void,
): RequestListener {
  const app = createApp(parts, report);
  const answer = async (request: Request, env: HttpBindings) => {
    const response = await app.fetch(request, env);
    if (!env.incoming.complete) await discardRest(env.incoming);
    return response;
  };
  return getRequestListener((request, env) => answer(request, env as HttpBindings), {
    hostname: host,
    overrideGlobalObjects: replaceGlobals,
    errorHandler: (thrown) => {
      // The URL or the Host header is invalid.
      const isMalformed = thrown instanceof Error && thrown.name === 'RequestError';
      const error = isMalformed
        ? new GatewayError('unparseable_body', `the request is malformed: ${thrown.message}`)
        : asGatewayError(thrown);
      if (!isMalformed) report(thrown);
      return Response.json(parts.dialect.serviceError(error), { status: statusOf(error) });
    },
  });
}

/** Maximum size of an unread body that is read before the response is sent, and maximum time for it (real time). */
const MAX_DISCARDED_BYTES = 64 * 2 ** 20;
const MAX_DISCARD_MS = 2_000;

/**
 * Reads and discards the rest of a body. Closing a connection while the client still sends resets it. A blocking client,
 * which reads only after it has sent everything, would never see the response.
 */
async function discardRest(incoming: IncomingMessage): Promise<void> {
  if (incoming.destroyed) return;
  let size = 0;
  const wantsMore = (chunk: Buffer) => {
    size += chunk.length;
    return size <= MAX_DISCARDED_BYTES;
  };
  await takeChunks(incoming.resume(), wantsMore, MAX_DISCARD_MS);
}
