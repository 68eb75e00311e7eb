import { describeEffects, statusOfFault } from './active-fault.ts';
import type { Attempt, StoredAttempt, StoredDelivery } from './delivery.ts';
// Only types: its schemas would be loaded with every command.
import type { AttemptFailure, EgressFailure } from './failure.ts';
import type { FaultRule } from './fault.ts';
import { describeTamperings } from './tampering.ts';

/*
 * What became of IPNs, in words: the only place where the facts of an attempt and of a delivery become sentences.
 */

/** What was sent and what came back, as far as a failure is about it. */
export interface AttemptSides extends Pick<Attempt, 'url'> {
  responseStatus?: Attempt['responseStatus'];
  responseHeaders?: Attempt['responseHeaders'];
  fault?: Attempt['fault'];
}

/** How an emulator comes to trust a receiver. */
const TRUST_BY =
  'run gateway-sim with NODE_EXTRA_CA_CERTS, or start it with --ipn-ca, naming the file with your CA';

/**
 * Why an attempt does not count as received.
 *
 * @param trustBy what to do about a certificate that is not trusted
 */
export function describeFailure(failure: AttemptFailure, attempt: AttemptSides, trustBy = TRUST_BY): string {
  const { url } = attempt;
  const { host, hostname } = URL.canParse(url) ? new URL(url) : { host: url, hostname: url };
  switch (failure.code) {
    case 'answered':
      return describeAnswer(attempt);
    case 'connection_refused':
      return `connection refused: nothing listens at ${host}`;
    case 'connection_reset':
      return `${host} closed the connection without an answer`;
    case 'name_not_found':
      return `the name ${hostname} cannot be resolved`;
    case 'no_route':
      return `there is no route to ${host}`;
    case 'expects_http':
      return `${host} speaks plain http: use an address that begins with http://`;
    case 'expects_https':
      return `${host} expects https: use an address that begins with https://`;
    case 'certificate':
      return `the certificate of ${host} is not trusted: ${trustBy}`;
    case 'tls':
      return `no secure connection to ${host}: ${failure.message}`;
    case 'timed_out':
      return `no complete answer from ${host} within ${failure.limitMs / 1_000} s`;
    case 'address':
      return `"${url}" is no address`;
    case 'stopping':
      return 'the emulator is stopping';
    case 'egress':
      return describeEgress(failure);
    case 'fault':
      return `${describeFaultOf(attempt)} (gateway-sim faults clear ipn ends this)`;
    case 'malformed':
    case 'other':
      return failure.message;
  }
}

/** Why an answer does not count as received. */
function describeAnswer({ responseStatus, responseHeaders = [] }: AttemptSides): string {
  const isRedirect = responseStatus && responseStatus >= 300 && responseStatus < 400;
  if (!isRedirect) return `the receiver answered ${responseStatus}: expected 2xx`;
  const location = responseHeaders.find(([name]) => name.toLowerCase() === 'location')?.[1];
  return `the receiver answered ${responseStatus}${location ? ` to ${location}` : ''}: redirects are not followed, give the final address as ipn_url`;
}

/** What a fault rule did in place of the receiver. A state from outside may lack the rule. */
function describeFaultOf({ fault }: AttemptSides): string {
  const instead = fault && insteadOfSending(fault);
  return `fault rule: ${[instead, 'nothing was sent'].filter(Boolean).join(', ')}`;
}

/** What a fault rule did instead of sending an IPN; undefined where it lets it be sent. */
export function insteadOfSending(rule: FaultRule): string | undefined {
  if (rule.drop) return 'lost it';
  const status = statusOfFault(rule);
  return status === undefined ? undefined : `answered ${status}`;
}

/** The host that `--allow-ipn-host` would have to name; null where no option allows it. */
export function allowableHost({ reason: why, host: name, address: resolved }: EgressFailure): string | null {
  if (why === 'emulator' || why === 'no_address') return null;
  return why === 'metadata' ? resolved : name;
}

/** Why the egress guard keeps a request from being sent, with the option that would allow it. */
export function describeEgress(failure: EgressFailure): string {
  const { reason, host, address, port } = failure;
  const shown = address === null || address === host ? host : `${host} (${address})`;
  const allow = `--allow-ipn-host ${allowableHost(failure)} allows it`;
  switch (reason) {
    case 'emulator':
      return `${shown} port ${port} is the emulator itself, not the merchant's address`;
    case 'metadata':
      return `${shown} is where a cloud keeps its metadata and credentials (${allow})`;
    case 'public':
      return `${shown} is neither a loopback nor a private address (${allow})`;
    case 'unresolved':
      return `${host} is allowed only if it resolves to a private address (${allow})`;
    case 'no_address':
      return `${host} has no address`;
  }
}

/** Why an attempt does not count as received, where there is room for a few words only. */
export function describeBriefly(attempt: AttemptSides & Pick<Attempt, 'failure'>): string {
  const { failure, responseStatus } = attempt;
  if (failure === null || failure.code === 'answered') return `answered ${responseStatus}`;
  if (failure.code === 'fault') return describeFaultOf(attempt);
  return BRIEF[failure.code] ?? describeFailure(failure, attempt);
}

const BRIEF: Readonly<Record<Exclude<AttemptFailure['code'], 'answered' | 'fault'>, string | null>> = {
  connection_refused: 'connection refused',
  connection_reset: 'connection closed without an answer',
  name_not_found: 'name not found',
  no_route: 'no route',
  expects_http: 'expects http',
  expects_https: 'expects https',
  certificate: 'certificate not trusted',
  tls: 'no secure connection',
  timed_out: null,
  address: 'no address',
  stopping: null,
  egress: 'not sent',
  malformed: 'malformed answer',
  other: null,
};

const FIX_HOST = 'Correct the host of ipn_url, or send all IPNs to your receiver with --forward-ipn.';
const FIX_SCHEME = 'Correct the scheme of ipn_url.';
const FIX_CERTIFICATE = 'Correct the certificate, or use http:// on your own machine.';
const FIX_CRASH = 'Look at the log of your receiver: it broke before it had answered.';
const START = 'Start your receiver at this address.';

/** What to do where no answer came. */
export const FIXES: Readonly<Record<AttemptFailure['code'], string>> = {
  answered: 'Answer 2xx when all went well.',
  connection_refused: START,
  connection_reset: FIX_CRASH,
  malformed: FIX_CRASH,
  name_not_found: FIX_HOST,
  no_route: FIX_HOST,
  expects_http: FIX_SCHEME,
  expects_https: FIX_SCHEME,
  address: 'Give an address that begins with http:// or https://.',
  certificate: FIX_CERTIFICATE,
  tls: FIX_CERTIFICATE,
  timed_out: 'Answer 200 first, then do slow work in a queue.',
  egress:
    'Restart the emulator with the option that is named, or with --forward-ipn to send all IPNs to your receiver.',
  fault: 'Nothing to fix. Clear the rule to deliver.',
  stopping: 'Start the emulator: what was under way stays due.',
  other: START,
};

/** What went wrong with an attempt, in words; null when nothing did. */
export function errorOf(attempt: AttemptSides & Pick<Attempt, 'failure'>): string | null {
  return attempt.failure && describeFailure(attempt.failure, attempt);
}

/** An attempt as it is shown. */
export function attemptView({ deliveryId: _, ...attempt }: StoredAttempt): Attempt {
  return { ...attempt, error: errorOf(attempt) };
}

/** How an attempt ended, in a few words. */
export function outcomeOf({ error, responseStatus }: Pick<Attempt, 'error' | 'responseStatus'>): string {
  return error ?? `answered ${responseStatus}`;
}

/** What is worth knowing about a delivery beside its attempts. */
export function remarksOn({
  postponedBy,
  signedAnew,
  tampered,
}: Pick<StoredDelivery, 'postponedBy' | 'signedAnew' | 'tampered'>): string[] {
  return [
    postponedBy && `put off by a fault rule: ${describeEffects(postponedBy)}`,
    signedAnew && 'signed anew: the key pair was replaced after the first signature',
    tampered.length > 0 && `tampered with: ${describeTamperings(tampered)}`,
  ].filter((remark) => typeof remark === 'string');
}

/** What is wrong with a delivery and what else is worth knowing; null for nothing. */
export function noteOf(
  delivery: Pick<StoredDelivery, 'state' | 'postponedBy' | 'signedAnew' | 'tampered'>,
  last: (AttemptSides & Pick<Attempt, 'failure'>) | undefined,
): string | null {
  const error = last ? errorOf(last) : null;
  const problem = error && delivery.state === 'delivered' ? `a later attempt failed: ${error}` : error;
  return [problem, ...remarksOn(delivery)].filter(Boolean).join('; ') || null;
}
