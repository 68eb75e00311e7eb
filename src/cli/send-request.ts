import { type Egress, isForbidden } from '../delivery/egress.ts';
import { type Answer, describeAnswer, describeFailure, type Outgoing, send } from '../delivery/sender.ts';

/** No receiver's answer is read further than this. */
const KEPT_BYTES = 2 ** 20;

/** What a receiver answered, if it did, and why that does not count as received. */
export interface Outcome {
  answer: Answer | null;
  error: string | null;
}

/**
 * Sends one request and puts into words what came of it.
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
    return { answer, error: describeAnswer(answer.status, answer.headers) };
  } catch (error) {
    if (isForbidden(error)) throw error;
    return { answer: null, error: describeFailure(error, outgoing.url) };
  }
}
