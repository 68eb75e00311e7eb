import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { bareHost, isAddress, isLoopback } from '../contract/address.ts';
import type { EgressFailure } from '../contract/delivery.ts';
import { describeEgress } from '../contract/describe-delivery.ts';
import { GatewayError } from '../contract/error.ts';

/*
 * Which addresses an IPN may go to (chosen): an emulator on a developer's machine must never post to someone else's
 * server. Only loopback and private addresses are allowed. Link-local addresses, cloud metadata services and the
 * emulator itself are not. The user can allow further hosts by name.
 */

const LOOPBACK = lazyList('127.0.0.0/8', '0.0.0.0', '::1', '::');
const LOCAL = lazyList('127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '::1', 'fc00::/7');

/**
 * Cloud metadata services, which give out a machine's credentials: AWS (with ECS and EKS), Google, Azure, Oracle,
 * Alibaba, Scaleway and OpenStack, over IPv4 and IPv6. Some have private addresses, and an allowed name may resolve to
 * one.
 */
const METADATA = lazyList(
  ...['169.254.169.254', '169.254.170.2', '169.254.170.23', '169.254.42.42', '168.63.129.16'],
  ...['192.0.0.192', '100.100.100.200', 'fe80::a9fe:a9fe'],
  ...['fd00:ec2::/32', 'fd20:ce::/32', 'fd00:c1::/32', 'fd00:42::/32'],
);

/** Names that are local by convention, without a lookup. */
const LOCAL_NAME = /^[^.]+$|\.(localhost|local|internal|lan|test|home\.arpa)$/;

const LOCALHOST: LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/** The hosts that the options of `start` allow. */
export function allowedHosts(options: {
  allowIpnHost: readonly string[];
  forwardIpn?: readonly string[] | undefined;
}): string[] {
  const { allowIpnHost, forwardIpn = [] } = options;
  // The user named this address, which allows its host. The target of a single host needs its own permission.
  const addresses = forwardIpn.filter((text) => isAddress(text) && URL.canParse(text));
  return [...allowIpnHost, ...addresses.map((url) => new URL(url).hostname)];
}

/** Decides which addresses the emulator may connect to. */
export class Egress {
  readonly #allowedHosts: ReadonlySet<string>;
  readonly #ownPort: () => number | undefined;

  /**
   * @param allowedHosts the host names and addresses that the user allows (`--allow-ipn-host`)
   * @param ownPort the emulator's own port, undefined until it listens
   */
  constructor(allowedHosts: Iterable<string>, ownPort: () => number | undefined) {
    this.#allowedHosts = new Set([...allowedHosts].map(bareHost));
    this.#ownPort = ownPort;
  }

  /** Why an address is probably not allowed, or null. Does not resolve its name. */
  unreachable(url: string): string | null {
    const failure = this.#verdict(url);
    return failure && describeEgress(failure);
  }

  /** Whether an address looks local, regardless of what the user allows. Does not resolve its name. */
  looksLocal(url: string): boolean {
    if (!URL.canParse(url)) return true;
    const { host } = endpointOf(new URL(url));
    return isIP(host) ? includes(LOCAL(), host) : LOCAL_NAME.test(host);
  }

  #verdict(url: string): EgressFailure | null {
    const { host, port } = endpointOf(new URL(url));
    if (isIP(host)) return this.#addressProblem(host, host, port);
    // Loopback names need no lookup.
    if (isLoopback(host)) return this.#addressProblem(host, '127.0.0.1', port);
    if (this.#allowedHosts.has(host) || LOCAL_NAME.test(host)) return null;
    return { code: 'egress', reason: 'unresolved', host, address: null, port };
  }

  /**
   * Checks an address and returns the lookup function for its connection.
   *
   * @throws GatewayError `forbidden`, naming the flag that would allow it. For a name, the lookup throws it.
   */
  admit(url: URL, options: { localOnly?: boolean | undefined } = {}): LookupFunction {
    this.check(url, options);
    return this.lookup(endpointOf(url).port, options);
  }

  /**
   * Checks an IP address. `lookup` checks the addresses of names.
   *
   * @throws GatewayError `forbidden`, naming the flag that would allow it
   */
  check(url: URL, { localOnly }: { localOnly?: boolean | undefined } = {}): void {
    const { host, port } = endpointOf(url);
    const failure = isIP(host) ? this.#addressProblem(host, host, port, localOnly) : null;
    if (failure) throw new EgressError(failure);
  }

  /**
   * The lookup function for a connection. The connection uses the addresses that were checked here, so the name cannot
   * resolve differently in between.
   *
   * @param localOnly whether even allowed hosts must be local
   */
  lookup(port: number, { localOnly }: { localOnly?: boolean | undefined } = {}): LookupFunction {
    return (hostname, options, callback) => {
      const decide = (addresses: LookupAddress[]) => {
        const failures = addresses.map(({ address }) =>
          this.#addressProblem(hostname, address, port, localOnly),
        );
        const allowed = addresses.filter((_, index) => failures[index] === null);
        const [first] = allowed;
        const none = { code: 'egress', reason: 'no_address', host: hostname, address: null, port } as const;
        if (!first) return callback(new EgressError(failures[0] ?? none), '');
        if (options.all) callback(null, allowed);
        else callback(null, first.address, first.family);
      };
      // RFC 6761, section 6.3: names below localhost are loopback, whatever a resolver says.
      if (/\.localhost\.?$/i.test(hostname)) return decide(LOCALHOST);
      lookup(hostname, { ...options, all: true }, (error, addresses) =>
        error ? callback(error, '') : decide(addresses),
      );
    };
  }

  /**
   * The addresses of a host that may be connected.
   *
   * @throws GatewayError `forbidden`, naming the flag that would allow it; the error of the resolver
   */
  resolve(host: string, port: number): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.lookup(port)(host, { all: true }, (error, addresses) => {
        if (error) reject(error);
        else resolve([addresses].flat().map((found) => (typeof found === 'string' ? found : found.address)));
      });
    });
  }

  #addressProblem(host: string, address: string, port: number, localOnly = false): EgressFailure | null {
    const refused = { code: 'egress', host, address, port } as const;
    if (port === this.#ownPort() && isOwnInterface(address)) return { ...refused, reason: 'emulator' };
    const isAllowed = !localOnly && this.#allowedHosts.has(host.toLowerCase());
    if (!isAllowed && !includes(LOCAL(), address)) return { ...refused, reason: 'public' };
    if (!includes(METADATA(), address) || this.#allowedHosts.has(address)) return null;
    return { ...refused, reason: 'metadata' };
  }
}

/** The host, without the brackets of an IPv6 address, and the port of a URL. */
export function endpointOf({ hostname, port, protocol }: URL): { host: string; port: number } {
  return { host: bareHost(hostname), port: Number(port) || (protocol === 'https:' ? 443 : 80) };
}

/** The guard, not the network, stopped a request. */
export class EgressError extends GatewayError {
  readonly failure: EgressFailure;

  constructor(failure: EgressFailure) {
    super('forbidden', describeEgress(failure));
    this.failure = failure;
  }
}

/** Whether a host is the IP address of a cloud metadata service. Names are not resolved. */
export function isMetadata(host: string): boolean {
  const address = bareHost(host);
  return isIP(address) !== 0 && includes(METADATA(), address);
}

/** Whether an address belongs to this machine. */
export function isOwnInterface(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((list = []) => list.map((entry) => entry.address));
  return includes(LOOPBACK(), address) || includes(blockList(...own), address);
}

/** Created on first use: a start does not need it. */
function lazyList(...entries: readonly string[]): () => BlockList {
  let list: BlockList | undefined;
  return () => {
    list ??= blockList(...entries);
    return list;
  };
}

/** @param entries addresses, or networks such as 10.0.0.0/8 */
function blockList(...entries: readonly string[]): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return list;
}

/** A BlockList also matches IPv4-mapped IPv6 addresses, in every spelling. */
function includes(list: BlockList, address: string): boolean {
  return list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
