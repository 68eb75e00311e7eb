import { GatewayError } from '../contract/error.ts';
import { type Answer, describeFailure, type Outgoing, send as sendRequest } from '../delivery/sender.ts';

export { type Answer, headerPairs } from '../delivery/sender.ts';

/** No receiver's answer is read further than this. */
const KEPT_BYTES = 2 ** 20;

/**
 * Sends one request as it is.
 *
 * @throws GatewayError `check_failed`, saying in words why there is no answer
 */
export async function send(request: Omit<Outgoing, 'keepBytes'>): Promise<Answer> {
  try {
    return await sendRequest({ ...request, keepBytes: KEPT_BYTES });
  } catch (error) {
    throw new GatewayError('check_failed', describeFailure(error, request.url, request.timeoutMs));
  }
}
