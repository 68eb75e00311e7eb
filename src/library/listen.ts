import { usage } from '../contract/error.ts';
import { type ReceivedRequest, receiveOnLoopback } from '../system/loopback-receiver.ts';
import { formOf } from '../wire/encoding.ts';
import type { IpnReceiver, ReceivedIpn, ReceiverAnswer } from './api.ts';
import { requireFields } from './arguments.ts';
import type { ControlServer } from './control-client.ts';
import { lastSent } from './ipns.ts';
import { verify } from './signature.ts';
import { MAX_REPORTED, requireFilter, waitFor } from './wait.ts';

/** @param secretKey returns the current key, which can be replaced */
export async function listen(server: ControlServer, secretKey: () => string): Promise<IpnReceiver> {
  const received: ReceivedIpn[] = [];
  let answer: Parameters<IpnReceiver['respondWith']>[0] = 200;
  const receiver = await receiveOnLoopback(async (request) => {
    const ipn = receivedIpn(request, secretKey());
    received.push(ipn);
    const chosen = typeof answer === 'function' ? await answer(ipn) : answer;
    const { status = 200, headers = {}, body } = requireAnswer(chosen);
    return { status, headers: Object.entries(headers), body };
  });
  const { url, close } = receiver;
  return {
    url,
    received,
    waitFor: (filter = {}, options) => {
      const wanted = Object.entries(requireFilter(filter)).filter(([, value]) => value !== undefined);
      const what = ['IPN', ...wanted.map(([name, value]) => `with ${name} "${value}"`)].join(' ');
      const find = async () =>
        received.findLast(({ fields }) => wanted.every(([name, value]) => fields[name] === value));
      const instead = async () =>
        received.length
          ? received.slice(-MAX_REPORTED).map(describeReceived)
          : [`${url} received nothing`, ...(await lastSent(server))];
      return waitFor({ what, find, instead }, options);
    },
    respondWith: (next) => {
      if (typeof next !== 'function') requireAnswer(next);
      answer = next;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** @throws GatewayError `usage` for anything that is not a response */
function requireAnswer(given: ReceiverAnswer): Exclude<ReceiverAnswer, number> {
  const answer = typeof given === 'number' ? { status: given } : given;
  requireFields('the response', answer, ['status', 'headers', 'body']);
  const { status = 200 } = answer;
  if (Number.isInteger(status) && status >= 200 && status <= 599) return answer;
  throw usage(`status must be a whole number from 200 to 599 (got ${status})`);
}

function receivedIpn({ method, url, headers, body }: ReceivedRequest, secretKey: string): ReceivedIpn {
  const text = body.toString();
  return { method, url, headers, body: text, fields: fieldsOf(text), ...verify(text, secretKey) };
}

/** Fields by their form names, even for JSON. */
function fieldsOf(body: string): Record<string, string> {
  try {
    return Object.fromEntries(formOf(JSON.parse(body)));
  } catch {
    return Object.fromEntries(new URLSearchParams(body));
  }
}

function describeReceived({ method, url, fields, reason }: ReceivedIpn): string {
  return `${method} ${url} had identifier "${fields['identifier'] ?? ''}": ${reason ?? 'valid'}`;
}
