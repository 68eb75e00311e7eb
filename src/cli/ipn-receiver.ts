import { describeFailure } from '../contract/describe-delivery.ts';
import { command, hint } from '../contract/error.ts';
import { Egress } from '../delivery/egress.ts';
import { failureOf, type HttpResponse, headerPairs, send } from '../delivery/sender.ts';
import type { VerifyKeys } from '../diagnosis/mistakes.ts';
import { verify } from '../diagnosis/verify.ts';
import { portOf } from '../options/resolve.ts';
import { type ReceivedRequest, receiveOnLoopback } from '../system/loopback-receiver.ts';
import { addressOf } from './connect.ts';
import { verificationText } from './format.ts';
import type { Io } from './io.ts';
import type { Output } from './output.ts';

/** The port that the examples send IPNs to. */
const DEFAULT_PORT = 3000;
/** Time limit for the target of --forward-to, a little less than the gateway's limit for a receiver. */
const FORWARD_TIMEOUT_MS = 9_500;
/** Maximum size of a response. */
const KEPT_BYTES = 2 ** 20;

/** Headers for a single connection, which must not be forwarded. */
const PER_CONNECTION: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/**
 * Receives, verifies and prints IPNs until SIGINT or SIGTERM.
 *
 * @param readKeys called again when verification fails, because the keys may have been replaced
 * @throws GatewayError `usage`, `port_in_use`, `forbidden` if the egress guard rejects the target, or the first error of
 *   `readKeys`
 */
export async function listenForIpns(
  {
    port: portText = String(DEFAULT_PORT),
    forwardTo,
    allowIpnHost = [],
  }: { port: string | undefined; forwardTo: string | undefined; allowIpnHost: readonly string[] | undefined },
  readKeys: () => Promise<VerifyKeys>,
  { io: { signals }, output }: { io: Pick<Io, 'signals'>; output: Output },
): Promise<void> {
  const egress = new Egress(allowIpnHost, () => undefined);
  if (forwardTo !== undefined) egress.check(new URL(addressOf(forwardTo, '--forward-to')));
  const keys = await readKeys();
  const receive = async (request: ReceivedRequest): Promise<HttpResponse> => {
    const { method, url, headers } = request;
    const text = request.body.toString();
    const first = verify(text, keys);
    const verdict = first.authentic ? first : verify(text, await readKeys().catch(() => keys));
    const own =
      method === 'POST'
        ? plain(verdict.authentic ? 200 : 400, verdict.authentic ? 'OK' : verdict.reasons.join('\n'))
        : plain(405, 'an IPN is a POST');
    const answer = forwardTo === undefined ? own : await passOn(request, forwardTo, egress);
    const seen = { event: 'ipn', at: new Date().toISOString(), method, url, headers, body: text };
    const destination = forwardTo === undefined ? '' : ` by ${forwardTo}`;
    if (output.json) output.document(JSON.stringify({ ...seen, verdict, answered: answer.status }));
    else
      output.line(
        `--> ${method} ${url}  returned ${answer.status}${destination}\n${text}\n${verificationText(verdict)}\n`,
      );
    return answer;
  };
  await using receiver = await receiveOnLoopback(receive, portOf(portText, '--port'));
  const { url, port } = receiver;
  const target = forwardTo === undefined ? '' : `, forwarding them to ${forwardTo}`;
  if (output.json)
    output.document(
      JSON.stringify({ event: 'ready', url, port, forwardTo: forwardTo ?? null, pid: process.pid }),
    );
  else output.line(`Listening for IPNs at ${url}${target}. Press Ctrl-C to stop.`);
  if (!output.json && port !== DEFAULT_PORT)
    output.notice(hint`Send them here with: ${command('payments create', '--ipn-url', `${url}/ipn`)}`);
  await new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM']) signals.once(name, resolve);
  });
}

function plain(status: number, text: string): HttpResponse {
  const body = Buffer.from(`${text}\n`);
  const headers: [string, string][] = [
    ['Content-Type', 'text/plain; charset=utf-8'],
    ['Content-Length', String(body.length)],
  ];
  if (status === 405) headers.push(['Allow', 'POST']);
  return { status, headers, body };
}

/** Forwards bytes and headers unchanged and returns the response. */
async function passOn(
  { method, url, rawHeaders, body }: ReceivedRequest,
  forwardTo: string,
  egress: Egress,
): Promise<HttpResponse> {
  const target = new URL(forwardTo);
  const query = /\?(.*)$/s.exec(url)?.[1];
  if (query) target.search += `${target.search ? '&' : '?'}${query}`;
  const headers = throughHeaders(headerPairs(rawHeaders), body).map(([name, value]): [string, string] => [
    name,
    name.toLowerCase() === 'host' ? target.host : value,
  ]);
  try {
    const answer = await send(
      { url: target.href, method, headers, body, timeoutMs: FORWARD_TIMEOUT_MS, guard: egress, agent: false },
      KEPT_BYTES,
    );
    return { ...answer, headers: throughHeaders(answer.headers, answer.body) };
  } catch (error) {
    const failure = failureOf(error, target.href);
    return plain(502, `not forwarded: ${describeFailure(failure, { url: target.href })}`);
  }
}

/** The headers to forward, with the length of this body. */
function throughHeaders(headers: HttpResponse['headers'], body: Buffer): HttpResponse['headers'] {
  const kept = headers.filter(([name]) => !PER_CONNECTION.has(name.toLowerCase()));
  return [...kept, ['Content-Length', String(body.length)]];
}
