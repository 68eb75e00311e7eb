import type { AttemptFailure } from '../contract/failure.ts';
import { type Egress, EgressError } from '../delivery/egress.ts';
import { failureOf, failureOfStatus, type HttpResponse, type Outgoing, send } from '../delivery/sender.ts';

/** No receiver's answer is read further than this. */
const KEPT_BYTES = 2 ** 20;

/** What a receiver answered, if it did, and why that does not count as received. */
export interface Outcome {
  answer: HttpResponse | null;
  failure: AttemptFailure | null;
}

/**
 * Sends one request, and says what came of it.
 *
 * @param egress the guard that an emulator has, too
 * @throws GatewayError `forbidden` when the guard does not let it out
 */
export async function sendRequest(
  outgoing: Omit<Outgoing, 'guard' | 'agent'>,
  egress: Egress,
): Promise<Outcome> {
  try {
    const answer = await send({ ...outgoing, guard: egress, agent: false }, KEPT_BYTES);
    return { answer, failure: failureOfStatus(answer.status) };
  } catch (error) {
    if (error instanceof EgressError) throw error;
    return { answer: null, failure: failureOf(error, outgoing.url) };
  }
}
