import { once } from 'node:events';
import { type Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import type { Budget } from './trial.ts';

/** After this time, a request counts as hung. */
const HANGS_MS = 60_000;

/** A request whose target and headers are sent unchanged. */
export interface TrialRequest {
  method: string;
  target: string;
  headers: Record<string, string>;
  body: Buffer | string;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/**
 * Sends a request and counts it as a case. A missing response is a failure.
 *
 * @param agent the connections to use
 * @returns undefined without a response
 */
export async function send(
  budget: Budget,
  agent: Agent,
  port: number,
  { method, target, headers, body }: TrialRequest,
): Promise<Answer | undefined> {
  const signal = AbortSignal.timeout(HANGS_MS);
  const sent = request({ agent, host: '127.0.0.1', port, method, path: target, headers, signal });
  // The server may close the connection of a body that is too large after its response.
  sent.on('error', () => {}).end(body);
  try {
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    const { statusCode: status = 0, headers } = response;
    const answer = { status, headers, body: await buffer(response) };
    budget.cases();
    budget.requests();
    return answer;
  } catch (error) {
    const text = `${error} after ${method} ${target} ${body.toString('latin1').slice(0, 500)}`;
    budget.fail(signal.aborted ? 'hang' : 'lost', text);
    return undefined;
  }
}
