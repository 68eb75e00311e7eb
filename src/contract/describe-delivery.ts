import { describeEffects, statusOfFault } from './active-fault.ts';
// Types only: otherwise every command would load its schemas.
import type {
  Attempt,
  AttemptFailure,
  EgressFailure,
  ResponseFlaw,
  StoredAttempt,
  StoredDelivery,
} from './delivery.ts';
import type { FaultRule } from './fault.ts';
import { headerIn } from './headers.ts';
import { FORM_TYPE } from './media-types.ts';
import { describeTamperings } from './tampering.ts';
import type { Verdict } from './verdict.ts';

/*
 * Texts about IPNs. Only this file turns the data of attempts and deliveries into sentences.
 */

/** The parts of a request and its response that a failure may quote. */
interface AttemptSides extends Pick<Attempt, 'url'> {
  responseStatus?: Attempt['responseStatus'];
  responseHeaders?: Attempt['responseHeaders'];
  fault?: Attempt['fault'];
}

/** The worst that can be said of a shop, wherever it is said. */
export const FORGED_IPN_ACCEPTED = 'forged IPN accepted';

/** What the fix of a verdict is called: where nothing is wrong, it is only a tip. */
export const fixLabel = ({ tone }: Pick<Verdict, 'tone'>): 'Fix' | 'Tip' =>
  tone === 'bad' || tone === 'warning' ? 'Fix' : 'Tip';

/** What to know before a receiver is asked why it does not accept an IPN. */
export const ASKS_WITH_INVALID_SIGNATURES =
  'This sends invalid signatures too. If your shop cancels orders on those, reset it afterwards.';

/** How to make an emulator trust a receiver. */
const TRUST_BY =
  'set NODE_EXTRA_CA_CERTS, or ipnCa in the configuration file, to the certificate file of your CA';

/** Why an attempt failed. @param trustBy the fix for an untrusted certificate */
export function describeFailure(failure: AttemptFailure, attempt: AttemptSides, trustBy = TRUST_BY): string {
  const { url } = attempt;
  const { host, hostname } = URL.canParse(url) ? new URL(url) : { host: url, hostname: url };
  switch (failure.code) {
    case 'answered':
      return describeAnswer(attempt);
    case 'connection_refused':
      return `connection refused: nothing is listening on ${host}`;
    case 'connection_reset':
      return `${host} closed the connection without a response`;
    case 'name_not_found':
      return `the name ${hostname} cannot be resolved`;
    case 'no_route':
      return `no route to ${host}`;
    case 'http2_only':
      // Without TLS, curl speaks HTTP/1.1, too.
      return url.startsWith('https:')
        ? `${host} accepts only HTTP/2, and gateway-sim speaks HTTP/1.1. The real sender, curl, would get through`
        : `${host} accepts only HTTP/2, and without TLS the gateway speaks HTTP/1.1`;
    case 'expects_http':
      return `${host} uses plain http: use an address that begins with http://`;
    case 'expects_https':
      return `${host} expects https: use an address that begins with https://`;
    case 'certificate':
      return `the certificate of ${host} is not trusted: ${trustBy}`;
    case 'tls':
      return `no secure connection to ${host}: ${failure.message}`;
    case 'timed_out':
      return `timed out after ${failure.limitMs / 1_000} s`;
    case 'address':
      return `"${url}" is not an address`;
    case 'stopping':
      return 'the emulator is stopping';
    case 'egress':
      return describeEgress(failure);
    case 'fault':
      return `${describeFaultOf(attempt)} (the command "faults clear ipn" removes the rule)`;
    case 'malformed':
    case 'other':
      return failure.message;
  }
}

/** What is malformed in a response, after "the response is malformed: ". */
export function describeFlaw(flaw: ResponseFlaw): string {
  switch (flaw.code) {
    case 'both_lengths':
      return 'it has both Content-Length and Transfer-Encoding';
    case 'repeated_length':
      return 'it has more than one Content-Length';
    case 'incomplete':
      return 'it ended before its end';
    case 'too_long':
      return 'it is longer than its Content-Length';
    case 'not_modified':
      return '304 answers a conditional GET, and an IPN is a POST';
    case 'invalid':
      return `it is not valid HTTP (${flaw.message})`;
  }
}

function describeAnswer({ responseStatus, responseHeaders = [] }: AttemptSides): string {
  const location = headerIn(responseHeaders, 'location');
  return `the receiver returned ${responseStatus}${location ? ` to ${location}` : ''}`;
}

/** What a fault rule did instead of the receiver. An imported state may lack the rule. */
function describeFaultOf({ fault }: AttemptSides): string {
  const instead = fault && insteadOfSending(fault);
  return `a fault rule ${instead ?? 'applied'}; nothing was sent`;
}

/** What a fault rule did instead of sending an IPN; undefined if the IPN is sent. */
export function insteadOfSending(rule: FaultRule): string | undefined {
  if (rule.drop) return 'dropped it';
  const status = statusOfFault(rule);
  return status === undefined ? undefined : `returned ${status}`;
}

/** The host to pass to `--allow-ipn-host`; null if no option allows it. */
export function allowableHost({ reason: why, host: name, address: resolved }: EgressFailure): string | null {
  if (why === 'emulator' || why === 'no_address') return null;
  return why === 'metadata' ? resolved : name;
}

/** Why the egress guard blocks a request, with the option that allows it. */
export function describeEgress(failure: EgressFailure): string {
  const { reason, host, address, port } = failure;
  const shown = address === null || address === host ? host : `${host} (${address})`;
  const allow = `--allow-ipn-host ${allowableHost(failure)} allows it`;
  switch (reason) {
    case 'emulator':
      return `${shown} port ${port} is the emulator itself, not the merchant's address`;
    case 'metadata':
      return `${shown} is the metadata and credentials service of a cloud (${allow})`;
    case 'public':
      return `${shown} is neither a loopback nor a private address (${allow})`;
    case 'unresolved':
      return `${host} is allowed only if it resolves to a private address (${allow})`;
    case 'no_address':
      return `${host} has no address`;
  }
}

/** Why an attempt failed, in a few words. */
export function describeBriefly(attempt: AttemptSides & Pick<Attempt, 'failure'>): string {
  const { failure, responseStatus } = attempt;
  if (failure === null || failure.code === 'answered') return `returned ${responseStatus}`;
  if (failure.code === 'fault') return describeFaultOf(attempt);
  return BRIEF[failure.code] ?? describeFailure(failure, attempt);
}

const BRIEF: Readonly<Record<Exclude<AttemptFailure['code'], 'answered' | 'fault'>, string | null>> = {
  connection_refused: 'connection refused',
  connection_reset: 'connection closed without a response',
  name_not_found: 'name not found',
  no_route: 'no route',
  http2_only: 'accepts only HTTP/2',
  expects_http: 'expects http',
  expects_https: 'expects https',
  certificate: 'certificate not trusted',
  tls: 'no secure connection',
  timed_out: null,
  address: 'invalid address',
  stopping: null,
  egress: 'not sent',
  malformed: 'malformed response',
  other: null,
};

/** An attempt without a response as a headline: what is wrong, and whose it is. */
export function headlineOf(attempt: AttemptSides & Pick<Attempt, 'failure'>): string {
  const known = attempt.failure && HEADLINES[attempt.failure.code];
  if (known) return known;
  const brief = describeBriefly(attempt);
  return `${brief.charAt(0).toUpperCase()}${brief.slice(1)}.`;
}

const HEADLINES: Readonly<Partial<Record<AttemptFailure['code'], string>>> = {
  connection_refused: 'Your shop is not running at this address.',
  connection_reset: 'Your handler closed the connection without a response.',
  name_not_found: 'The host of this address does not exist.',
  no_route: 'The host of this address cannot be reached.',
  http2_only: 'Your shop accepts only HTTP/2.',
  expects_http: 'Your shop expects http, not https.',
  expects_https: 'Your shop expects https, not http.',
  certificate: 'The certificate of your shop is not trusted.',
};

const FIX_HOST = 'Correct the host of ipn_url, or send all IPNs to your handler with --forward-ipn.';
const FIX_SCHEME = 'Correct the scheme of ipn_url.';
const FIX_CERTIFICATE = 'Correct the certificate, or use http:// on your own machine.';
const FIX_CRASH = 'Check the log of your shop: it failed before it responded.';
/** The fix for a receiver that the real sender reaches and this one does not. */
export const FIX_HTTP2 = 'Enable HTTP/1.1 in your shop too, at least on your machine.';
/** The fix for a receiver that does not find the fields of the body. */
export const FIX_FORM = `Read the body as a form, as the gateway sends it: ${FORM_TYPE}.`;
/** The fix for a function that gets the body in base64. */
export const FIX_BASE64 = 'Decode the body if event.isBase64Encoded is true.';
/** The fix for a receiver that finds the fields of the body, but not those inside `data`. */
export const FIX_NESTED =
  'In the form, the amount has the name data[amount]. Read it by this name, or parse the form with a parser that nests fields: qs.parse, or express.urlencoded({ extended: true }).';
const START = 'Start your shop at this address, or correct ipn_url.';

/** The fix for each failure, except those whose fix depends on the address. */
export const FIXES: Readonly<Record<Exclude<AttemptFailure['code'], 'egress'>, string>> = {
  answered: 'Return 2xx when you have processed the IPN.',
  connection_refused: START,
  connection_reset: FIX_CRASH,
  malformed: FIX_CRASH,
  name_not_found: FIX_HOST,
  no_route: FIX_HOST,
  http2_only: FIX_HTTP2,
  expects_http: FIX_SCHEME,
  expects_https: FIX_SCHEME,
  address: 'Use an address that begins with http:// or https://.',
  certificate: FIX_CERTIFICATE,
  tls: FIX_CERTIFICATE,
  timed_out: 'Return 200 first and do slow work in a queue.',
  fault: 'When the rule ends or is cleared, resend the IPN.',
  stopping: 'Start the emulator: it retries interrupted attempts.',
  other: START,
};

/** The fix for a failure; null counts as an unknown one. */
export function fixOfFailure(failure: AttemptFailure | null): string {
  if (failure?.code !== 'egress') return FIXES[failure?.code ?? 'other'];
  const host = allowableHost(failure);
  const allowed =
    host === null
      ? 'Set ipn_url to the address of your handler'
      : `Restart the emulator with --allow-ipn-host ${host}`;
  return `${allowed}, or use --forward-ipn to send all IPNs to your handler.`;
}

/** What went wrong with an attempt, in words; null when nothing did. */
export function errorOf(attempt: AttemptSides & Pick<Attempt, 'failure'>): string | null {
  return attempt.failure && describeFailure(attempt.failure, attempt);
}

/** An attempt for display. */
export function attemptView({ deliveryId: _, ...attempt }: StoredAttempt): Attempt {
  return { ...attempt, error: errorOf(attempt) };
}

/** How an attempt ended, in a few words. */
export function outcomeOf({ error, responseStatus }: Pick<Attempt, 'error' | 'responseStatus'>): string {
  return error ?? `returned ${responseStatus}`;
}

type MadeAttempt = Pick<StoredAttempt, 'number' | 'sentAgain' | 'responseStatus'>;

const ORIGINS = {
  first: ['', 'The first got'],
  retry: ['retried by the emulator', 'The emulator retried:'],
  user: ['resent by you', 'You resent it:'],
  rule: ['repeated by your fault rule', 'Your fault rule sent it again:'],
} as const;

const originsOf = ({ number, sentAgain }: Pick<MadeAttempt, 'number' | 'sentAgain'>) =>
  ORIGINS[sentAgain ?? (number === 1 ? 'first' : 'retry')];

/** Who made an attempt, such as `resent by you`; empty for the first one. */
export const originOf = (attempt: Pick<MadeAttempt, 'number' | 'sentAgain'>): string => originsOf(attempt)[0];

/** Who made the attempts and what each got: `The first got 302. You resent it: no response, 200.` */
export function describeAttempts(attempts: readonly MadeAttempt[]): string {
  const sentences: { words: string; got: string[] }[] = [];
  for (const attempt of attempts) {
    const [, words] = originsOf(attempt);
    const got = String(attempt.responseStatus ?? 'no response');
    const last = sentences.at(-1);
    if (last?.words === words) last.got.push(got);
    else sentences.push({ words, got: [got] });
  }
  return sentences.map(({ words, got }) => `${words} ${withCounts(got)}.`).join(' ');
}

/** The number of different outcomes in a sentence. The newest are kept. */
const MAX_OUTCOMES = 10;

/** `503, 503, 200` as `503 ×2, 200`. */
function withCounts(texts: readonly string[]): string {
  const starts = texts.flatMap((text, index) => (text === texts[index - 1] ? [] : [index]));
  const runs = starts.map((start, index) => {
    const times = (starts[index + 1] ?? texts.length) - start;
    return times > 1 ? `${texts[start]} ×${times}` : texts[start];
  });
  return [...(runs.length > MAX_OUTCOMES ? ['…'] : []), ...runs.slice(-MAX_OUTCOMES)].join(', ');
}

/** Facts about a delivery that are not in its attempts. */
export function remarksOn({
  postponedBy,
  signedAnew,
  tampered,
}: Pick<StoredDelivery, 'postponedBy' | 'signedAnew' | 'tampered'>): string[] {
  return [
    postponedBy && `postponed by a fault rule: ${describeEffects(postponedBy)}`,
    signedAnew && 'signed again: the key pair was replaced after the first signature',
    tampered.length > 0 && `tampered with: ${describeTamperings(tampered)}`,
  ].filter((remark) => typeof remark === 'string');
}

/** The note of a delivery: its failure and anything unusual about it; null if there is nothing to say. */
export function noteOf(
  delivery: Pick<StoredDelivery, 'state' | 'postponedBy' | 'signedAnew' | 'tampered'>,
  last: (AttemptSides & Pick<Attempt, 'failure'>) | undefined,
): string | null {
  const error = last ? errorOf(last) : null;
  const problem = error && delivery.state === 'delivered' ? `a later attempt failed: ${error}` : error;
  return [problem, ...remarksOn(delivery)].filter(Boolean).join('; ') || null;
}
