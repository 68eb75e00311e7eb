import { type Answer, describeAnswer, describeFailure, type Outgoing, send } from '../delivery/sender.ts';

/** No receiver's answer is read further than this. */
const KEPT_BYTES = 2 ** 20;

/** What a receiver answered, if it did, and why that does not count as received. */
export interface Outcome {
  answer: Answer | null;
  error: string | null;
}

/** Sends one request and puts into words what came of it. */
export async function sendRequest(outgoing: Omit<Outgoing, 'keepBytes'>): Promise<Outcome> {
  try {
    const answer = await send({ ...outgoing, keepBytes: KEPT_BYTES });
    return { answer, error: describeAnswer(answer.status, answer.headers) };
  } catch (error) {
    return { answer: null, error: describeFailure(error, outgoing.url, outgoing.timeoutMs) };
  }
}
