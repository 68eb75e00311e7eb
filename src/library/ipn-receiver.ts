import { usage } from '../contract/error.ts';
import { verify } from '../diagnosis/verify.ts';
import { formOf } from '../service/encoding.ts';
import { asyncDisposable } from '../system/disposal.ts';
import { receiveOnLoopback } from '../system/loopback-receiver.ts';
import type { IpnReceiver, ReceivedIpn, ReceiverAnswer } from './api.ts';
import type { ControlServer } from './control-client.ts';
import { requireFields, requireFilter } from './require.ts';
import { lastSent, MAX_REPORTED, waitFor } from './wait-for.ts';

/** @param secretKey returns the current key, which can be replaced */
export async function listen(server: ControlServer, secretKey: () => string): Promise<IpnReceiver> {
  const received: ReceivedIpn[] = [];
  let answer: Parameters<IpnReceiver['respondWith']>[0] = 200;
  const { url, close } = await receiveOnLoopback(async (request) => {
    const body = request.body.toString();
    const { valid, reasons } = verify(body, { secretKey: secretKey() });
    const reason = reasons.join('; ') || null;
    const { method, url, headers } = request;
    const ipn: ReceivedIpn = { method, url, headers, body, fields: fieldsOf(body), valid, reason };
    received.push(ipn);
    const chosen = requireAnswer(typeof answer === 'function' ? await answer(ipn) : answer);
    return { status: chosen.status ?? 200, headers: Object.entries(chosen.headers ?? {}), body: chosen.body };
  });
  return {
    url,
    received,
    waitFor: async (filter = {}, options) => {
      const wanted = Object.entries(requireFilter(filter)).filter(([, value]) => value !== undefined);
      const what = ['IPN', ...wanted.map(([name, value]) => `with ${name} "${value}"`)].join(' ');
      const find = async () =>
        received.findLast(({ fields }) => wanted.every(([name, value]) => fields[name] === value));
      const instead = async () =>
        received.length
          ? received.slice(-MAX_REPORTED).map(describeReceived)
          : [`${url} received nothing`, ...(await lastSent(server))];
      return waitFor(what, find, instead, options);
    },
    respondWith: (next) => {
      if (typeof next !== 'function') requireAnswer(next);
      answer = next;
    },
    close,
    ...asyncDisposable(close),
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
