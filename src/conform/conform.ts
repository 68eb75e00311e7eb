import { randomBytes } from 'node:crypto';
import { AuditClient } from '../audit/client.ts';
import { bareHost } from '../contract/address.ts';
import { GatewayError } from '../contract/error.ts';
import type { ManifestLine } from '../contract/manifest.ts';
import { Egress } from '../delivery/egress.ts';
import type { IpnTools } from '../wire/dialect.ts';
import { compare, type Verdict } from './expectation.ts';
import { type IpnListener, listenForIpns, markedUrl } from './listener.ts';
import { holdsUnder, type InForce } from './manifest.ts';
import { requireGateway } from './preflight.ts';
import { type Conformed, reportOf } from './reports.ts';
import { Session } from './session.ts';
import { NoAnswer, Target, type TargetOptions, Unseen } from './target.ts';

export interface ConformOptions extends TargetOptions {
  lines: readonly ManifestLine[];
  inForce: InForce;
  tools: IpnTools;
  /** A public address that leads to `ipnPort` of this machine; without it only an emulator here can reach us. */
  ipnUrl?: string | undefined;
  /** Where this machine listens for IPNs; default: a free port. */
  ipnPort?: number | undefined;
  /** Tried although they need not hold: what they show explains differences. */
  alsoTry?: boolean;
  onLine?: (done: number, of: number) => void;
  /** Told of a line whose answer only came when it was tried again. */
  onLost?: (line: ManifestLine, reason: string, status: number | undefined) => void;
}

/** Lines that are tried at the same time: on this machine they disturb nobody. */
const LANES = 8;

/**
 * Holds a manifest against a deployment. Nothing is settled there that it did not make itself.
 *
 * A target that goes away ends the run: what was seen until then is reported.
 *
 * @throws GatewayError `no_server` for a target that does not answer or is no such gateway, `invalid_api_key`
 */
export async function conform(options: ConformOptions): Promise<Conformed> {
  const target = new Target(options);
  await requireGateway(target);
  const hasWay = target.isEmulator || options.ipnUrl !== undefined;
  await using listener = hasWay ? await listenForIpns(options.ipnPort) : null;
  const noIpn = listener ? await unreached(options.ipnUrl, listener) : NO_WAY;
  const { lines, inForce } = options;
  const wanted = options.alsoTry ? lines : lines.filter((line) => holdsUnder(line, inForce));
  const trial = new Trial(target, listener, noIpn, options);
  const seen = new Map<ManifestLine, Verdict>();
  let done = 0;
  const look = async (line: ManifestLine) => {
    seen.set(line, await trial.look(line));
    done++;
    options.onLine?.(done, wanted.length);
  };
  const queue = wanted.filter((line) => !isAlone(line));
  const lane = async () => {
    for (let line = queue.shift(); line; line = queue.shift()) await look(line);
  };
  await Promise.all(Array.from({ length: target.isEmulator ? LANES : 1 }, lane));
  for (const line of wanted.filter(isAlone)) await look(line);
  const { gone } = trial;
  if (gone) for (const line of trial.unanswered) seen.set(line, { why: gone.why });
  // In the order of the manifest, whatever was answered first.
  const verdicts = new Map(
    wanted.flatMap((line) => {
      const verdict = seen.get(line);
      return verdict ? [[line, verdict] as const] : [];
    }),
  );
  return { report: reportOf(options, verdicts), verdicts, ...(gone && { gone: gone.error }) };
}

const NO_WAY = 'no IPN can reach this machine: --ipn-url names a public address of it';
/** Whose a request is that we send to ourselves. */
const OWN_MARK = 'own';
/** Milliseconds within which a tunnel hands a request over. */
const TUNNEL_MS = 10_000;

/** Why no IPN comes by a public address: a dead tunnel must not be blamed on the target. */
async function unreached(ipnUrl: string | undefined, listener: IpnListener): Promise<string | null> {
  if (ipnUrl === undefined) return null;
  const url = markedUrl(ipnUrl, OWN_MARK);
  const client = new AuditClient(new Egress([bareHost(new URL(url).hostname)], () => undefined), TUNNEL_MS);
  const { error } = await client.send({ url, method: 'POST', body: '' });
  if (listener.of(OWN_MARK).length) return null;
  return `--ipn-url does not lead to --ipn-port of this machine: a request of our own did not arrive (${error ?? 'somebody else answered'})`;
}

/** A list holds what other lines make meanwhile. */
const isAlone = ({ request }: ManifestLine) =>
  request.method === 'GET' && /\/api\/cards($|\?)/.test(request.path);

/** When so many lines in a row got no answer the target is gone. */
const MAX_UNANSWERED = 3;

/** Tries lines, each on its own: what one makes is nothing to another. */
class Trial {
  readonly #target: Target;
  readonly #listener: IpnListener | null;
  readonly #noIpn: string | null;
  readonly #options: ConformOptions;
  readonly #byId: ReadonlyMap<string, ManifestLine>;
  /** Unlike that of any other run: identifiers of payments may be remembered for long. */
  readonly #run = randomBytes(4).toString('hex');
  #count = 0;
  /** Lines in a row that got no answer. */
  unanswered: ManifestLine[] = [];
  /** Set as soon as nobody answers any more. */
  gone: { error: NoAnswer; why: string } | undefined;

  /** @param noIpn why no IPN comes, where none does */
  constructor(target: Target, listener: IpnListener | null, noIpn: string | null, options: ConformOptions) {
    this.#target = target;
    this.#listener = listener;
    this.#noIpn = noIpn;
    this.#options = options;
    this.#byId = new Map(options.lines.map((line) => [line.id, line]));
  }

  async look(line: ManifestLine): Promise<Verdict> {
    const chain = [...this.#before(line), line];
    const why = this.#hindrance(chain) ?? this.gone?.why;
    if (why !== undefined) return { why };
    const first = await this.#try(chain, line);
    if (!(first instanceof NoAnswer)) return first;
    const second = await this.#try(chain, line);
    if (!(second instanceof NoAnswer)) {
      const status = 'why' in second ? undefined : second.status;
      this.#options.onLost?.(line, first.reason, status);
      return second;
    }
    if (!second.isThere) this.unanswered.push(line);
    if (this.unanswered.length >= MAX_UNANSWERED) {
      this.gone ??= { error: second, why: `the target was gone by then: ${second.reason}` };
    }
    return { mismatches: [{ expected: 'an answer', got: second.reason }] };
  }

  /** What was seen of a line, or that it got no answer. */
  async #try(chain: readonly ManifestLine[], line: ManifestLine): Promise<Verdict | NoAnswer> {
    this.#count++;
    const mark = `c${this.#run}${this.#count.toString(36)}`;
    const { ipnUrl = this.#listener?.url ?? null, secretKey, tools } = this.#options;
    const session = new Session(this.#target, this.#listener, ipnUrl, mark);
    try {
      let seen = await session.run(chain[0] ?? line);
      for (const next of chain.slice(1)) seen = await session.run(next);
      if (!this.gone) this.unanswered = [];
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

  /** Why a line is not tried here at all. */
  #hindrance(chain: readonly ManifestLine[]): string | undefined {
    if (chain.some(({ expect }) => expect.client !== undefined)) return 'it only concerns clients';
    const { isEmulator, hasControl, options } = this.#target;
    if (!isEmulator && chain.some(({ emulator }) => emulator)) return 'only an emulator does so';
    if (!isEmulator && !options.live && chain.some(({ request }) => isLive(request.path))) {
      return this.#target.leftAlone().message;
    }
    const needsControl = chain.some(({ outcome }) => outcome !== undefined && outcome !== 'pay');
    if (needsControl && !hasControl) return 'it takes the control API of an emulator';
    return chain.at(-1)?.expect.ipn && this.#noIpn !== null ? this.#noIpn : undefined;
  }
}

/** A pattern of the manifest takes too long on what came. */
const isUndecided = (error: unknown): error is GatewayError =>
  error instanceof GatewayError && error.code === 'check_failed';

/** What is not below the sandbox moves real money, or cards; what opens a page of a payment is as that payment. */
const isLive = (path: string) => !/^(\/sandbox\/|\{checkout\})/.test(path);
