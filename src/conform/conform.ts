import { randomBytes } from 'node:crypto';
import { bareHost } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import { Secrets } from '../contract/secrets.ts';
import { Egress } from '../delivery/egress.ts';
import { ExchangeClient } from '../delivery/exchange.ts';
import { at } from './answer.ts';
import { compare, type Verdict } from './expectation.ts';
import { appliesWith, type Expected, type InForce, type ManifestLine } from './manifest.ts';
import { reportOf } from './report.ts';
import { type IpnListener, listenForIpns, markedUrl, type Seen, Session } from './session.ts';
import { NOWHERE, NoAnswer, Target, type TargetOptions, Unseen } from './target.ts';

export interface ConformOptions extends TargetOptions {
  lines: readonly ManifestLine[];
  inForce: InForce;
  /** A public address that forwards to `ipnPort`. Without it, only an emulator on this machine can send IPNs. */
  ipnUrl?: string | undefined;
  /** The local port for IPNs; default: a free port. */
  ipnPort?: number | undefined;
  onLine?: (done: number, of: number) => void;
}

/** Maximum concurrent lines against an emulator on this machine. */
const CONCURRENCY = 8;
/** After this number of consecutive lines without a response, the target counts as down. */
const MAX_UNANSWERED = 3;

const NO_WAY = 'no IPN can reach this machine: specify its public address with --ipn-url';

/**
 * Checks a deployment against a manifest. It settles only its own payments.
 *
 * If the target stops responding, the run ends and reports the results so far: `gone` says why.
 *
 * @throws GatewayError `no_server` if the target does not respond or is not such a gateway, `invalid_api_key`
 */
export async function conform(options: ConformOptions) {
  const { lines, inForce, ipnUrl, publicKey, secretKey } = options;
  const target = new Target(options);
  await target.requireGateway();
  await using listener = await listenForIpns(options.ipnPort);
  const address = ipnUrl ?? (target.isEmulator ? listener.url : NOWHERE);
  const noIpn = address === NOWHERE ? NO_WAY : await unreached(ipnUrl, listener);
  const byId = new Map(lines.map((line) => [line.id, line]));
  /** Unique to this run, since a gateway may remember identifiers for a long time. */
  const run = randomBytes(4).toString('hex');
  let tries = 0;
  /** The lines that got no response since the last response. */
  const unanswered = new Set<ManifestLine>();
  let gone: NoAnswer | undefined;
  const whenGone = ({ reason }: NoAnswer) => ({ why: `the target had stopped responding: ${reason}` });

  function linesBefore({ after }: ManifestLine): ManifestLine[] {
    const line = after === undefined ? undefined : byId.get(after);
    return line ? [...linesBefore(line), line] : [];
  }

  function obstacle(chain: readonly ManifestLine[]): string | undefined {
    if (chain.some(({ expect }) => expect.client !== undefined)) return 'applies only to clients';
    const { isEmulator, hasControl } = target;
    if (!isEmulator && chain.some(({ emulator }) => emulator)) return 'applies only to an emulator';
    if (!isEmulator && !options.live && chain.some(({ request }) => isLive(request.path))) {
      return target.notAllowed().message;
    }
    const needsControl = chain.some(({ outcome }) => outcome !== undefined && outcome !== 'pay');
    if (needsControl && !hasControl) return 'needs the control API of an emulator';
    return chain.some(({ expect }) => expect.ipn) ? noIpn : undefined;
  }

  async function tryOnce(line: ManifestLine, before: readonly ManifestLine[]): Promise<Verdict | NoAnswer> {
    const session = new Session(target, listener, address, `c${run}${(++tries).toString(36)}`);
    try {
      for (const earlier of before) await session.run(earlier);
      const seen = await session.run(line);
      if (!gone) unanswered.clear();
      if (line.source.kind === 'documented' && isElsewhere(line.expect, seen)) {
        return { why: 'the document does not say which field of the response contains the card' };
      }
      return { mismatches: compare(line.expect, seen, secretKey) };
    } catch (error) {
      if (error instanceof NoAnswer) return error;
      // A pattern of the manifest may take too long to match.
      const isUndecided = error instanceof GatewayError && error.code === 'check_failed';
      if (error instanceof Unseen || isUndecided) return { why: error.message };
      throw error;
    } finally {
      await session.end();
    }
  }

  async function look(line: ManifestLine): Promise<Verdict> {
    const before = linesBefore(line);
    const why = obstacle([...before, line]);
    if (why !== undefined) return { why };
    if (gone) return whenGone(gone);
    const first = await tryOnce(line, before);
    if (!(first instanceof NoAnswer)) return first;
    const second = await tryOnce(line, before);
    if (!(second instanceof NoAnswer)) return second;
    if (!second.isThere) unanswered.add(line);
    if (unanswered.size >= MAX_UNANSWERED) gone ??= second;
    return { mismatches: [{ expected: 'a response', got: second.reason }] };
  }

  // In the order of the manifest.
  const wanted = lines.filter((line) => appliesWith(line, inForce));
  const verdicts = new Map(wanted.map((line): [ManifestLine, Verdict] => [line, { why: 'not tried' }]));
  let done = 0;
  const work = async (queue: ManifestLine[]) => {
    for (let line = queue.shift(); line; line = queue.shift()) {
      verdicts.set(line, await look(line));
      options.onLine?.(++done, wanted.length);
    }
  };
  const queue = wanted.filter((line) => !isAlone(line));
  await Promise.all(Array.from({ length: target.isEmulator ? CONCURRENCY : 1 }, () => work(queue)));
  await work(wanted.filter(isAlone));
  if (gone) for (const line of unanswered) verdicts.set(line, whenGone(gone));
  const checked = { target: options.url, profile: inForce.profile };
  const secrets = new Secrets([publicKey, secretKey]);
  secrets.learn(options.ipnUrl);
  return { report: reportOf(checked, verdicts, secrets.mask), gone };
}

/** Marks a request that this run sends to itself. */
const OWN_MARK = 'own';
/** Maximum time for a tunnel to forward a request, in milliseconds. */
const TUNNEL_MS = 10_000;

/** Why IPNs cannot arrive through the public address: the target is not to blame for a broken tunnel. */
async function unreached(ipnUrl: string | undefined, listener: IpnListener): Promise<string | undefined> {
  if (ipnUrl === undefined) return undefined;
  const url = markedUrl(ipnUrl, OWN_MARK);
  const client = new ExchangeClient(
    new Egress([bareHost(new URL(url).hostname)], () => undefined),
    TUNNEL_MS,
  );
  const { error } = await client.send({ url, method: 'POST', body: '' });
  if (listener.of(OWN_MARK).length) return undefined;
  return `--ipn-url does not forward to --ipn-port on this machine: a test request did not arrive (${error ?? 'another server answered'})`;
}

/** A list also contains the records that concurrent lines create. */
const isAlone = ({ request }: ManifestLine) =>
  request.method === 'GET' && /\/api\/cards($|\?)/.test(request.path);

/** Whether a response to an accepted request has the card elsewhere than in `data`, a place that is only our choice. */
function isElsewhere({ json, types }: Expected, response: Pick<Seen, 'status' | 'json'>): boolean {
  const isAboutCard = Object.keys({ ...json, ...types }).some((path) => path.startsWith('data.'));
  const isAccepted = response.status < 300 && typeof response.json === 'object';
  return (
    isAboutCard && isAccepted && ['data', 'error'].every((name) => at(response.json, name) === undefined)
  );
}

/** Requests outside the sandbox may move real money. A checkout page belongs to the mode of its payment. */
const isLive = (path: string) => !/^(\/sandbox\/|\{checkout\})/.test(path);
