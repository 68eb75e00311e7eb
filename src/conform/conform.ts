import { randomBytes } from 'node:crypto';
import { AuditClient } from '../audit/client.ts';
import { bareHost } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import type { Expected, ManifestLine } from '../contract/manifest.ts';
import { Egress } from '../delivery/egress.ts';
import type { IpnTools } from '../wire/dialect.ts';
import { compare, type Verdict } from './expectation.ts';
import { at } from './json.ts';
import { type IpnListener, listenForIpns, markedUrl } from './listener.ts';
import { appliesWith, type InForce } from './manifest.ts';
import { requireGateway } from './preflight.ts';
import { type Conformed, reportOf } from './reports.ts';
import { Session } from './session.ts';
import { NoAnswer, Target, type TargetOptions, Unseen } from './target.ts';

export interface ConformOptions extends TargetOptions {
  lines: readonly ManifestLine[];
  inForce: InForce;
  tools: IpnTools;
  /** A public address that forwards to `ipnPort`. Without it, only an emulator on this machine can send IPNs. */
  ipnUrl?: string | undefined;
  /** The local port for IPNs; default: a free port. */
  ipnPort?: number | undefined;
  /** Also tries lines that do not apply to this profile: their results explain differences. */
  alsoTry?: boolean;
  onLine?: (done: number, of: number) => void;
  /** Reports a line that was answered only on its second try. */
  onLost?: (line: ManifestLine, reason: string, status: number | undefined) => void;
}

/** Maximum concurrent lines against an emulator on this machine. */
const CONCURRENCY = 8;

/**
 * Checks a deployment against a manifest. It settles only its own payments.
 *
 * If the target stops responding, the run ends and reports the results so far.
 *
 * @throws GatewayError `no_server` if the target does not respond or is not such a gateway, `invalid_api_key`
 */
export async function conform(options: ConformOptions): Promise<Conformed> {
  const target = new Target(options);
  await requireGateway(target);
  const hasWay = target.isEmulator || options.ipnUrl !== undefined;
  await using listener = hasWay ? await listenForIpns(options.ipnPort) : null;
  const noIpn = listener ? await unreached(options.ipnUrl, listener) : NO_WAY;
  const { lines, inForce } = options;
  const wanted = options.alsoTry ? lines : lines.filter((line) => appliesWith(line, inForce));
  const trial = new Trial(target, listener, noIpn, options);
  const seen = new Map<ManifestLine, Verdict>();
  let done = 0;
  const look = async (line: ManifestLine) => {
    seen.set(line, await trial.look(line));
    done++;
    options.onLine?.(done, wanted.length);
  };
  const queue = wanted.filter((line) => !isAlone(line));
  const work = async () => {
    for (let line = queue.shift(); line; line = queue.shift()) await look(line);
  };
  await Promise.all(Array.from({ length: target.isEmulator ? CONCURRENCY : 1 }, work));
  for (const line of wanted.filter(isAlone)) await look(line);
  const { gone } = trial;
  if (gone) for (const line of trial.unanswered.keys()) seen.set(line, { why: gone.why });
  // In the order of the manifest.
  const verdicts = new Map(
    wanted.flatMap((line) => {
      const verdict = seen.get(line);
      return verdict ? [[line, verdict] as const] : [];
    }),
  );
  return { report: reportOf(options, verdicts), verdicts, ...(gone && { gone: gone.error }) };
}

const NO_WAY = 'no IPN can reach this machine: specify its public address with --ipn-url';
/** Marks a request that this run sends to itself. */
const OWN_MARK = 'own';
/** Maximum time for a tunnel to forward a request, in milliseconds. */
const TUNNEL_MS = 10_000;

/** Why IPNs cannot arrive through the public address: the target is not to blame for a broken tunnel. */
async function unreached(ipnUrl: string | undefined, listener: IpnListener): Promise<string | null> {
  if (ipnUrl === undefined) return null;
  const url = markedUrl(ipnUrl, OWN_MARK);
  const client = new AuditClient(new Egress([bareHost(new URL(url).hostname)], () => undefined), TUNNEL_MS);
  const { error } = await client.send({ url, method: 'POST', body: '' });
  if (listener.of(OWN_MARK).length) return null;
  return `--ipn-url does not forward to --ipn-port on this machine: a test request did not arrive (${error ?? 'another server answered'})`;
}

/** A list also contains the records that concurrent lines create. */
const isAlone = ({ request }: ManifestLine) =>
  request.method === 'GET' && /\/api\/cards($|\?)/.test(request.path);

/** After this number of consecutive lines without a response, the target counts as down. */
const MAX_UNANSWERED = 3;

/** Tries lines independently of each other. */
class Trial {
  readonly #target: Target;
  readonly #listener: IpnListener | null;
  readonly #noIpn: string | null;
  readonly #options: ConformOptions;
  readonly #byId: ReadonlyMap<string, ManifestLine>;
  /** Unique to this run, since a gateway may remember identifiers for a long time. */
  readonly #run = randomBytes(4).toString('hex');
  #count = 0;
  /** The lines that got no response since the last response, each with the number of tries that had begun by then. */
  readonly unanswered = new Map<ManifestLine, number>();
  /** Set when the target stops responding. */
  gone: { error: NoAnswer; why: string } | undefined;

  /** @param noIpn why IPNs cannot arrive; null if they can */
  constructor(target: Target, listener: IpnListener | null, noIpn: string | null, options: ConformOptions) {
    this.#target = target;
    this.#listener = listener;
    this.#noIpn = noIpn;
    this.#options = options;
    this.#byId = new Map(options.lines.map((line) => [line.id, line]));
  }

  async look(line: ManifestLine): Promise<Verdict> {
    const chain = [...this.#before(line), line];
    const why = this.#obstacle(chain) ?? this.gone?.why;
    if (why !== undefined) return { why };
    const first = await this.#try(chain, line);
    if (!(first instanceof NoAnswer)) return first;
    const second = await this.#try(chain, line);
    if (!(second instanceof NoAnswer)) {
      const status = 'why' in second ? undefined : second.status;
      this.#options.onLost?.(line, first.reason, status);
      return second;
    }
    if (!second.isThere) this.unanswered.set(line, this.#count);
    if (this.unanswered.size >= MAX_UNANSWERED) {
      this.gone ??= { error: second, why: `the target had stopped responding: ${second.reason}` };
    }
    return { mismatches: [{ expected: 'a response', got: second.reason }] };
  }

  /** Tries a line once. */
  async #try(chain: readonly ManifestLine[], line: ManifestLine): Promise<Verdict | NoAnswer> {
    const number = ++this.#count;
    const mark = `c${this.#run}${number.toString(36)}`;
    const { ipnUrl = this.#listener?.url ?? null, secretKey, tools } = this.#options;
    const session = new Session(this.#target, this.#listener, ipnUrl, mark);
    try {
      let seen = await session.run(chain[0] ?? line);
      for (const next of chain.slice(1)) seen = await session.run(next);
      // A response to an earlier request says nothing about the target now.
      for (const [other, begun] of this.gone ? [] : this.unanswered)
        if (begun < number) this.unanswered.delete(other);
      if (line.source.kind === 'documented' && isElsewhere(line.expect, seen)) {
        return { why: 'the document does not say which field of the response contains the card' };
      }
      return compare(line.expect, seen, secretKey, tools);
    } catch (error) {
      if (error instanceof NoAnswer) return error;
      if (error instanceof Unseen || isUndecided(error)) return { why: error.message };
      throw error;
    } finally {
      await session.end();
    }
  }

  #before({ after }: ManifestLine): ManifestLine[] {
    const line = after === undefined ? undefined : this.#byId.get(after);
    return line ? [...this.#before(line), line] : [];
  }

  /** Why a line cannot be tried; undefined if it can. */
  #obstacle(chain: readonly ManifestLine[]): string | undefined {
    if (chain.some(({ expect }) => expect.client !== undefined)) return 'applies only to clients';
    const { isEmulator, hasControl, options } = this.#target;
    if (!isEmulator && chain.some(({ emulator }) => emulator)) return 'applies only to an emulator';
    if (!isEmulator && !options.live && chain.some(({ request }) => isLive(request.path))) {
      return this.#target.notAllowed().message;
    }
    const needsControl = chain.some(({ outcome }) => outcome !== undefined && outcome !== 'pay');
    if (needsControl && !hasControl) return 'needs the control API of an emulator';
    return chain.at(-1)?.expect.ipn && this.#noIpn !== null ? this.#noIpn : undefined;
  }
}

/** Whether a pattern of the manifest takes too long to match. */
const isUndecided = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'check_failed';

/** Whether a response to an accepted request has the card elsewhere than in `data`, a place that is only our choice. */
function isElsewhere({ json, types }: Expected, response: { status: number; json: unknown }): boolean {
  const isAboutCard = Object.keys({ ...json, ...types }).some((path) => path.startsWith('data.'));
  const isAccepted = response.status < 300 && typeof response.json === 'object';
  return (
    isAboutCard && isAccepted && ['data', 'error'].every((name) => at(response.json, name) === undefined)
  );
}

/** Requests outside the sandbox may move real money. A checkout page belongs to the mode of its payment. */
const isLive = (path: string) => !/^(\/sandbox\/|\{checkout\})/.test(path);
