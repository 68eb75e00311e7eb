/** Where hosts of what a client sends are reached instead: origins by `host` or `host:port`. */
export type HostMap = ReadonlyMap<string, string>;

/** One entry of a host map. */
export interface Mapping {
  /** `host`, which stands for it with any port, or `host:port`. */
  from: string;
  /** Scheme, host and port; plain http where no scheme was given. */
  to: string;
}

const AUTHORITY = /^(\[[\da-f:.]+\]|[^\s:/?#@\\[\]]+)(?::(\d{1,5}))?$/i;

/** Reads `shop.example=127.0.0.1:8080`. @returns what is wrong with it where it makes no sense */
export function readMapping(text: string): Mapping | string {
  const [, host = '', target = ''] = /^([^=]*)=(.*)$/.exec(text) ?? [];
  if (!host || !target) return 'must be written as host=target, such as shop.example=127.0.0.1:8080';
  const from = hostOf(host);
  if (from === undefined)
    return 'needs a host on its left, with or without a port, but without scheme and path';
  const [, scheme = 'http:', rest = ''] = /^(?:(https?:)\/\/)?(.*?)\/?$/i.exec(target) ?? [];
  const to = hostOf(rest);
  if (to === undefined)
    return 'needs a host on its right, with or without scheme and port, but without a path: path and query stay those of the address';
  if (from === to) return 'maps a host to itself';
  return { from, to: `${scheme.toLowerCase()}//${to}` };
}

/** A host and its port as addresses have them; undefined for what is none. */
function hostOf(text: string): string | undefined {
  const [, name = '', port] = AUTHORITY.exec(text) ?? [];
  if (!name || Number(port ?? 1) < 1 || Number(port ?? 1) > 65_535 || !URL.canParse(`http://${name}`))
    return undefined;
  const { hostname } = new URL(`http://${name}`);
  return port === undefined ? hostname : `${hostname}:${Number(port)}`;
}

const PARTS = /^https?:\/\/(?:([^/?#\\@]*)@)?[^/?#\\]*(.*)$/is;

/** Where an address leads by the map, its path and query character by character; itself where none of it applies. */
export function mapped(url: string, map: HostMap): string {
  if (!map.size || !URL.canParse(url)) return url;
  const { protocol, hostname, port } = new URL(url);
  const target = map.get(`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`) ?? map.get(hostname);
  const [, user, rest = ''] = PARTS.exec(url) ?? [];
  if (target === undefined) return url;
  return user === undefined ? target + rest : target.replace('//', `//${user}@`) + rest;
}
