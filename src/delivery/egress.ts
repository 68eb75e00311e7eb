import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { isLoopback } from '../contract/address.ts';
import { describeEgress } from '../contract/describe-delivery.ts';
import { GatewayError } from '../contract/error.ts';
import type { EgressFailure } from '../contract/failure.ts';

/*
 * Which addresses an IPN may go to (chosen): an emulator on a developer's machine must never post to a stranger.
 * Loopback and private networks only, never link-local, never where clouds keep their metadata service, and never the
 * emulator itself. The user names what is allowed beyond that, host by host.
 */

const LOOPBACK = listed('127.0.0.0/8', '0.0.0.0', '::1', '::');
const LOCAL = listed('127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1', 'fc00::/7');

/**
 * Where clouds keep the credentials of a machine, in every family of addresses: AWS (with ECS and EKS), Google, Azure,
 * Oracle, Alibaba, Scaleway, OpenStack. Some are private addresses, and a name that is allowed may lead to one.
 */
const METADATA = listed(
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.42.42', '168.63.129.16'],
  ...['192.0.0.192', '100.100.100.200', 'fe80::a9fe:a9fe'],
  ...['fd00:ec2::/32', 'fd20:ce::/32', 'fd00:c1::/32', 'fd00:42::/32'],
);

/** Names that mean this machine or this network without asking anybody. */
const LOCAL_NAME = /^[^.]+$|\.(localhost|local|internal|lan|test|home\.arpa)$/;

const MAX_VERDICTS = 1_000;

/** What the lists say of an address. */
interface Kind {
  isLocal: boolean;
  isMetadata: boolean;
}

/** The hosts that options of `start` allow. */
export function allowedHosts(options: { allowIpnHost: readonly string[]; forwardIpn?: string | undefined }) {
  const { allowIpnHost, forwardIpn } = options;
  // Naming the address to forward to allows its host.
  return [...allowIpnHost, ...(forwardIpn ? [new URL(forwardIpn).hostname] : [])];
}

/** Decides which addresses may be reached. */
export class Egress {
  readonly #allowedHosts: ReadonlySet<string>;
  readonly #ownPort: () => number | undefined;
  /** Verdicts by scheme, host and port: a merchant sends the same few with every payment. */
  readonly #verdicts = new Map<string, EgressFailure | null>();
  readonly #looks = new Map<string, boolean>();
  /** By address: asking a list takes up to a tenth of the time that a whole attempt does. */
  readonly #kinds = new Map<string, Kind>();

  /**
   * @param allowedHosts host names or addresses that the user allows (`--allow-ipn-host`)
   * @param ownPort where the emulator itself listens, once it does
   */
  constructor(allowedHosts: Iterable<string>, ownPort: () => number | undefined) {
    this.#allowedHosts = new Set([...allowedHosts].map((name) => bare(name.toLowerCase())));
    this.#ownPort = ownPort;
  }

  /** Why an address would probably not be allowed, without resolving its name; null when nothing speaks against it. */
  unreachable(url: string): string | null {
    const failure = remembered(this.#verdicts, originOf(url), () => this.#verdict(url));
    return failure && describeEgress(failure);
  }

  /** Whether an address seems to be on this machine or its network, whatever the user allows. No name is resolved. */
  looksLocal(url: string): boolean {
    return remembered(this.#looks, originOf(url), () => {
      if (!URL.canParse(url)) return true;
      const { host } = endpointOf(new URL(url));
      return isIP(host) ? this.#isLocal(host) : LOCAL_NAME.test(host);
    });
  }

  #verdict(url: string): EgressFailure | null {
    const { host, port } = endpointOf(new URL(url));
    if (isIP(host)) return this.#addressProblem(host, host, port);
    // A name of this machine needs no resolving.
    if (isLoopback(host)) return this.#addressProblem(host, '127.0.0.1', port);
    if (this.#allowedHosts.has(host) || LOCAL_NAME.test(host)) return null;
    return { code: 'egress', reason: 'unresolved', host, address: null, port };
  }

  /**
   * Checks an address, and gives what its connection is to be made with.
   *
   * @throws GatewayError `forbidden`, naming the flag that would allow it; for a name, the lookup fails so
   */
  admit(url: URL, { localOnly = false } = {}): LookupFunction {
    this.check(url);
    return this.lookup(endpointOf(url).port, { localOnly });
  }

  /**
   * Checks an address given as a number. Names are checked in `lookup`, on what they resolve to.
   *
   * @throws GatewayError `forbidden`, naming the flag that would allow it
   */
  check(url: URL): void {
    const { host, port } = endpointOf(url);
    const failure = isIP(host) ? this.#addressProblem(host, host, port) : null;
    if (failure) throw new EgressError(failure);
  }

  /** Whether an address is that of this machine or of a private network, or a name, which only `lookup` can tell. */
  mayBeLocal(url: URL): boolean {
    const { host } = endpointOf(url);
    return !isIP(host) || this.#isLocal(host);
  }

  #isLocal(address: string): boolean {
    return this.#kindOf(address).isLocal;
  }

  #kindOf(address: string): Kind {
    return remembered(this.#kinds, address, () => ({
      isLocal: includes(LOCAL(), address),
      isMetadata: includes(METADATA(), address),
    }));
  }

  /**
   * The lookup that a connection uses: what it hands on is what is connected to, so a name cannot change in between.
   *
   * @param localOnly whether hosts that the user allows must be local, too
   */
  lookup(port: number, { localOnly = false } = {}): LookupFunction {
    return (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, addresses) => {
        if (error) return callback(error, '');
        const failures = addresses.map(({ address }) =>
          this.#addressProblem(hostname, address, port, localOnly),
        );
        const allowed = addresses.filter((_, index) => failures[index] === null);
        const [first] = allowed;
        const none = { code: 'egress', reason: 'no_address', host: hostname, address: null, port } as const;
        if (!first) return callback(new EgressError(failures[0] ?? none), '');
        if (options.all) (callback as (error: null, addresses: LookupAddress[]) => void)(null, allowed);
        else callback(null, first.address, first.family);
      });
    };
  }

  #addressProblem(host: string, address: string, port: number, localOnly = false): EgressFailure | null {
    const refused = { code: 'egress', host, address, port } as const;
    if (port === this.#ownPort() && isOwnInterface(address)) return { ...refused, reason: 'emulator' };
    if (this.#isLocal(address) || (!localOnly && this.#allowedHosts.has(host.toLowerCase()))) {
      if (!this.#kindOf(address).isMetadata || this.#allowedHosts.has(address)) return null;
      return { ...refused, reason: 'metadata' };
    }
    return { ...refused, reason: 'public' };
  }
}

/** An address up to its path: each order may have a query of its own. */
function originOf(url: string): string {
  return /^https?:\/\/[^/?#\\]+/i.exec(url)?.[0] ?? url;
}

function remembered<Verdict>(known: Map<string, Verdict>, key: string, decide: () => Verdict): Verdict {
  const found = known.get(key);
  if (found !== undefined) return found;
  const verdict = decide();
  if (known.size >= MAX_VERDICTS) known.clear();
  known.set(key, verdict);
  return verdict;
}

/** An IPv6 address without its brackets. */
function bare(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname;
}

/** The host, without the brackets of an IPv6 address, and the port of a URL. */
export function endpointOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  return { host: bare(hostname), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** The guard, and no failure on the way, kept a request from being sent. */
export class EgressError extends GatewayError {
  readonly failure: EgressFailure;

  constructor(failure: EgressFailure) {
    super('forbidden', describeEgress(failure));
    this.failure = failure;
  }
}

/** Whether a host is an address where a cloud keeps its metadata. A name is judged by what it resolves to. */
export function isMetadata(host: string): boolean {
  const address = bare(host);
  return isIP(address) !== 0 && includes(METADATA(), address);
}

/** Whether an address is one of this machine. */
export function isOwnInterface(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((list = []) => list.map((entry) => entry.address));
  return includes(LOOPBACK(), address) || includes(addresses(...own), address);
}

/** Made when it is first asked for: a start has no use for it. */
function listed(...entries: readonly string[]): () => BlockList {
  let list: BlockList | undefined;
  return () => {
    list ??= addresses(...entries);
    return list;
  };
}

/** @param entries each an address, or a network such as 10.0.0.0/8 */
function addresses(...entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return list;
}

/** A BlockList also knows an IPv4 address that is written as an IPv6 one, in every spelling. */
function includes(list: BlockList, address: string): boolean {
  return list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
