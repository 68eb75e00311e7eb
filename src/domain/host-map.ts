import { isAddress } from '../contract/address.ts';

/** Replacement origins for hosts that clients send, by `host` or `host:port`. */
type HostMap = ReadonlyMap<string, string>;

interface Mapping {
  /** `host` for any port, or `host:port`. */
  from: string;
  /** Scheme, host and port. Default scheme: http. */
  to: string;
}

const AUTHORITY = /^(\[[\da-f:.]+\]|[^\s:/?#@\\[\]]+)(?::(\d{1,5}))?$/i;

/** What is sent elsewhere. */
interface Forwarding {
  /** The address of all IPNs; null if they keep theirs. */
  to: string | null;
  hosts: HostMap;
}

/** Reads addresses and mappings. @returns the problem if one is invalid */
export function readForwarding(texts: readonly string[]): Forwarding | string {
  const hosts = new Map<string, string>();
  let to: string | null = null;
  for (const text of texts) {
    if (isAddress(text)) {
      if (!URL.canParse(text)) return 'must be an absolute http or https address';
      if (to !== null) return 'accepts only one address for all IPNs';
      to = text;
      continue;
    }
    const mapping = readMapping(text);
    if (typeof mapping === 'string') return `${mapping} (got "${text}")`;
    const other = hosts.get(mapping.from) ?? mapping.to;
    if (other !== mapping.to) return `maps ${mapping.from} twice, to ${other} and to ${mapping.to}`;
    hosts.set(mapping.from, mapping.to);
  }
  return { to, hosts };
}

/** Reads `shop.example=127.0.0.1:8080`. @returns the problem if it is invalid */
function readMapping(text: string): Mapping | string {
  const [, host = '', target = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  if (!host || !target)
    return 'must be an absolute http or https address, or have the form host=target, for example shop.example=127.0.0.1:8080';
  const from = hostOf(host);
  if (from === undefined) return 'needs a host on the left, with an optional port and no scheme or path';
  const [, scheme = 'http:', rest = ''] = /^(?:(https?:)\/\/)?(.*?)\/?$/i.exec(target) ?? [];
  const to = hostOf(rest);
  if (to === undefined)
    return 'needs a host on the right, with an optional scheme and port and no path: path and query are kept';
  if (from === to) return 'maps a host to itself';
  return { from, to: `${scheme.toLowerCase()}//${to}` };
}

/** A normalized host with optional port; undefined if invalid. */
function hostOf(text: string): string | undefined {
  const [, name = '', port] = AUTHORITY.exec(text) ?? [];
  if (!name || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535 || !URL.canParse(`http://${name}`))
    return undefined;
  const { hostname } = new URL(`http://${name}`);
  return port === undefined ? hostname : `${hostname}:${Number(port)}`;
}

const PARTS = /^https?:\/\/(?:([^/?#\\@]*)@)?[^/?#\\]*(.*)$/is;

/** The address with its host replaced by the map, and all other characters unchanged. */
export function mapped(url: string, map: HostMap): string {
  if (!map.size || !URL.canParse(url)) return url;
  const { protocol, hostname, port } = new URL(url);
  const target = map.get(`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`) ?? map.get(hostname);
  const [, user, rest = ''] = PARTS.exec(url) ?? [];
  if (target === undefined) return url;
  return user === undefined ? target + rest : target.replace('//', `//${user}@`) + rest;
}
