import type { LookupAddress } from 'node:dns';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { Egress } from '../../src/delivery/egress.ts';

/** The addresses of names, instead of a real lookup. */
const NAMES: Record<string, string[]> = {
  'shop.test': ['127.0.0.1'],
  'nas.lan': ['192.168.1.20', 'fd00::20'],
  'rebound.example.com': ['169.254.169.254'],
  'public.example.com': ['93.184.216.34', '2606:2800:220:1::1'],
  'mixed.example.com': ['93.184.216.34', '10.0.0.5', '::ffff:8.8.8.8', '::1'],
  'mapped.example.com': ['::ffff:10.0.0.5'],
  'metadata.test': ['fd00:ec2::254'],
  'this-machine.test': ['192.168.7.7'],
};

vi.mock(import('node:dns'), async (original) => {
  const dns = await original();
  const fake = (
    name: string,
    _: unknown,
    done: (error: Error | null, addresses: LookupAddress[]) => void,
  ) => {
    const found = NAMES[name];
    if (found)
      done(
        null,
        found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
      );
    else done(Object.assign(new Error('not found'), { code: 'ENOTFOUND' }), []);
  };
  return { ...dns, lookup: fake as unknown as typeof dns.lookup };
});

vi.mock(import('node:os'), async (original) => {
  const os = await original();
  const entry = { netmask: '255.255.255.0', mac: '', internal: false, cidr: null };
  const interfaces = {
    eth0: [
      { ...entry, address: '192.168.7.7', family: 'IPv4' as const },
      { ...entry, address: 'fd00::7', family: 'IPv6' as const, scopeid: 0 },
    ],
  };
  return { ...os, networkInterfaces: (() => interfaces) as typeof os.networkInterfaces };
});

const nowhere = () => undefined;
const guard = (...allowed: string[]) => new Egress(allowed, nowhere);

const forbidden = (message: RegExp) =>
  expect.objectContaining({ code: 'forbidden', message: expect.stringMatching(message) });

/** Besides the networks of IPv4, which are below. */
const LOCAL = [
  'http://127.0.0.1:3000/ipn',
  'http://[::1]:3000/',
  'http://[fc00::1]/',
  'http://[fdff::1]/',
  // Other spellings of the same kinds of addresses.
  'http://0x7f.1/',
  'http://127.1/',
  'http://[0:0:0:0:0:0:0:1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[::ffff:10.1.2.3]/',
  'http://１２７.0.0.1/',
];

const PUBLIC = [
  'http://8.8.8.8/',
  'http://93.184.216.34:3000/',
  'http://100.64.0.1/',
  'http://0.0.0.0/',
  'http://255.255.255.255/',
  'http://224.0.0.1/',
  'http://[2606:2800:220:1::1]/',
  'http://[::]/',
  'http://[ff02::1]/',
  // Link-local addresses, which cloud metadata services use.
  'http://169.254.169.254/latest/meta-data/',
  'http://169.254.0.1/',
  'http://[fe80::1]/',
  // Other spellings of the same kinds of addresses.
  'http://0251.0376.0251.0376/',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:8.8.8.8]/',
  // IPv6 addresses with an embedded IPv4 address, which a router may translate.
  'http://[::127.0.0.1]/',
  'http://[64:ff9b::7f00:1]/',
  'http://[2002:7f00:1::]/',
];

/** The first and last address of each local network. */
const NETWORKS = [
  [0x0a000000, 0x0affffff],
  [0x7f000000, 0x7fffffff],
  [0xac100000, 0xac1fffff],
  [0xc0a80000, 0xc0a8ffff],
] as const;

/** Ways to write an IPv4 address in a URL. */
const SPELLINGS = [
  (address: number) => String(address),
  (address: number) => `0x${address.toString(16)}`,
  (address: number) => `0${address.toString(8)}`,
  (address: number) => `[::ffff:${(address >>> 16).toString(16)}:${(address & 0xffff).toString(16)}]`,
];

describe('an IP address', () => {
  it('is allowed only in the local networks, however it is written', () => {
    const edges = NETWORKS.flatMap(([first, last]) => [first - 1, first, last, last + 1]);
    const anyAddress = fc.oneof(fc.constantFrom(...edges), fc.nat({ max: 0xffffffff }));
    fc.assert(
      fc.property(anyAddress, fc.constantFrom(...SPELLINGS), (address, spell) => {
        const isLocal = NETWORKS.some(([first, last]) => first <= address && address <= last);
        expect(guard().unreachable(`http://${spell(address)}/`) === null).toBe(isLocal);
      }),
      { numRuns: 500 },
    );
  });

  it.each(LOCAL)('%s is allowed', (url) => {
    expect(() => guard().check(new URL(url))).not.toThrow();
    expect(guard().unreachable(url)).toBeNull();
  });

  it.each(PUBLIC)('%s is not allowed, and the error names the flag that allows it', (url) => {
    const host = new URL(url).hostname.replace(/^\[|\]$/g, '');
    const act = () => guard().check(new URL(url));
    expect(act).toThrow(forbidden(/is neither a loopback nor a private address/));
    expect(act).toThrow(`--allow-ipn-host ${host} allows it`);
    expect(guard().unreachable(url)).toContain(`--allow-ipn-host ${host}`);
  });

  it.each([
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:169.254.169.254]/',
    'http://[fd00:ec2::254]/',
    'http://[fd00:0ec2:0:0:0:0:0:254]/',
    'http://[fd00:ec2::23]/',
    'http://[fd20:ce::254]/',
    'http://[fd00:c1::a9fe:a9fe]/',
    'http://[fd00:42::42]/',
    'http://[fe80::a9fe:a9fe]/',
    'http://168.63.129.16/',
    'http://100.100.100.200/',
    'http://192.0.0.192/',
  ])('%s is rejected as a cloud metadata service', (url) => {
    expect(() => guard().check(new URL(url))).toThrow(
      forbidden(/is the metadata and credentials service of a cloud|is neither/),
    );
  });

  it.each([
    ['8.8.8.8', 'http://8.8.8.8/', true],
    ['8.8.8.8', 'http://8.8.4.4/', false],
    ['8.8.8.8', 'http://134744072/', true],
    ['2606:2800:220:1::1', 'http://[2606:2800:220:1::1]/', true],
    ['[2606:2800:220:1::1]', 'http://[2606:2800:220:1:0:0:0:1]/', true],
    ['169.254.169.254', 'http://169.254.169.254/', true],
  ])('with --allow-ipn-host %s, %s is allowed: %s', (allowed, url, isAllowed) => {
    const act = () => guard(allowed).check(new URL(url));
    if (isAllowed) expect(act).not.toThrow();
    else expect(act).toThrow(forbidden(/neither/));
  });
});

describe('a name', () => {
  /** The addresses for a connection to this name. */
  function resolved(
    egress: Egress,
    name: string,
    { all = true, port = 80, localOnly = false } = {},
  ): Promise<string | LookupAddress[]> {
    return new Promise((resolve, reject) => {
      egress.lookup(port, { localOnly })(name, { all }, (error, addresses) =>
        error ? reject(error) : resolve(addresses),
      );
    });
  }

  const addresses = (egress: Egress, name: string) => egress.resolve(name, 80);

  it.each([
    ['shop.test', ['127.0.0.1']],
    ['nas.lan', ['192.168.1.20', 'fd00::20']],
    ['mapped.example.com', ['::ffff:10.0.0.5']],
  ])('%s is allowed because it resolves to private addresses', async (name, list) => {
    expect(await addresses(guard(), name)).toEqual(list);
    expect(await resolved(guard(), name, { all: false })).toBe(list[0]);
  });

  it.each([
    ['public.example.com', /^public\.example\.com \(93\.184\.216\.34\) is neither/],
    ['rebound.example.com', /^rebound\.example\.com \(169\.254\.169\.254\) is neither/],
    ['metadata.test', /^metadata\.test \(fd00:ec2::254\) is the metadata and credentials service of a cloud/],
  ])('%s is rejected because of the addresses that it resolves to', async (name, message) => {
    for (const all of [true, false]) {
      await expect(resolved(guard(), name, { all })).rejects.toMatchObject({
        code: 'forbidden',
        message: expect.stringMatching(message),
      });
    }
  });

  it('that is allowed must not resolve to a cloud metadata service, unless that address is allowed', async () => {
    const rebound = resolved(guard('metadata.test'), 'metadata.test');
    await expect(rebound).rejects.toThrow('--allow-ipn-host fd00:ec2::254 allows it');
    expect(await addresses(guard('fd00:ec2::254'), 'metadata.test')).toEqual(['fd00:ec2::254']);
  });

  it('with private and public addresses resolves to its private ones only', async () => {
    expect(await addresses(guard(), 'mixed.example.com')).toEqual(['10.0.0.5', '::1']);
  });

  it.each(['public.example.com', 'PUBLIC.example.com'])(
    'that is allowed as %s may have a public address',
    async (allowed) => {
      expect(await addresses(guard(allowed), 'public.example.com')).toEqual(NAMES['public.example.com']);
    },
  );

  it('that is allowed must be local if certificates are not checked', async () => {
    const localOnly = true;
    const lookup = (name: string) => resolved(guard(name), name, { localOnly });
    await expect(lookup('public.example.com')).rejects.toMatchObject({ code: 'forbidden' });
    expect(await lookup('mixed.example.com')).toMatchObject([{ address: '10.0.0.5' }, { address: '::1' }]);
    expect(await lookup('shop.test')).toMatchObject([{ address: '127.0.0.1' }]);
    expect(() => guard('8.8.8.8').admit(new URL('https://8.8.8.8/'), { localOnly })).toThrow('8.8.8.8');
    expect(() => guard().admit(new URL('https://[::1]/'), { localOnly })).not.toThrow();
  });

  it('that is allowed does not allow its subdomains', async () => {
    await expect(resolved(guard('example.com'), 'public.example.com')).rejects.toMatchObject({
      code: 'forbidden',
    });
  });

  it('that cannot be resolved fails with ENOTFOUND', async () => {
    await expect(resolved(guard(), 'nowhere.example.com')).rejects.toMatchObject({ code: 'ENOTFOUND' });
  });

  it.each([
    ['http://localhost:3000/', true],
    ['http://receiver/', true],
    ['http://shop.localhost/', true],
    ['http://shop.test/', true],
    ['http://host.docker.internal/', true],
    ['http://shop.local/', true],
    ['http://shop.example.com/', false],
    ['http://localhost.example.com/', false],
  ])('in %s looks reachable without a lookup: %s', (url, isReachable) => {
    expect(guard().unreachable(url) === null).toBe(isReachable);
  });

  it('that looks public causes a warning that names the flag, unless it is allowed', () => {
    const url = 'http://shop.example.com/ipn';
    expect(guard().unreachable(url)).toBe(
      'shop.example.com is allowed only if it resolves to a private address (--allow-ipn-host shop.example.com allows it)',
    );
    expect(guard('shop.example.com').unreachable(url)).toBeNull();
  });

  it.each([
    ['this-machine.test', 4478],
    ['nas.lan', 4477],
  ])('%s port %i is allowed when the emulator listens on 4477', async (name, port) => {
    const found = await resolved(new Egress([name], () => 4477), name, { port });
    expect(found).toMatchObject((NAMES[name] ?? []).map((address) => ({ address })));
  });

  it.each(['this-machine.test', 'shop.test'])('%s is rejected at the emulator’s port', async (name) => {
    const lookup = resolved(new Egress([name], () => 4477), name, { port: 4477 });
    await expect(lookup).rejects.toMatchObject({
      code: 'forbidden',
      message: expect.stringContaining('is the emulator itself'),
    });
  });
});

describe('the emulator’s own address', () => {
  const own = (...allowed: string[]) => new Egress(allowed, () => 4477);

  it.each([
    'http://127.0.0.1:4477/ipn',
    'http://127.0.0.2:4477/',
    'http://0x7f.1:4477/',
    'http://[::1]:4477/',
    'http://[::ffff:127.0.0.1]:4477/',
    'http://0.0.0.0:4477/',
    'http://[::]:4477/',
    'http://192.168.7.7:4477/',
    'http://[::ffff:192.168.7.7]:4477/',
    'http://[fd00::7]:4477/',
    'https://127.0.0.1:4477/',
  ])('%s is never allowed, even with --allow-ipn-host', (url) => {
    const host = new URL(url).hostname;
    expect(() => own(host).check(new URL(url))).toThrow(forbidden(/port 4477 is the emulator itself/));
    expect(own(host).unreachable(url)).toContain('is the emulator itself');
  });

  it.each(['http://127.0.0.1:4478/', 'http://127.0.0.1/', 'http://192.168.7.8:4477/', 'http://192.168.7.7/'])(
    'is not %s',
    (url) => {
      expect(() => own().check(new URL(url))).not.toThrow();
    },
  );

  it('includes default ports', () => {
    expect(() => new Egress([], () => 80).check(new URL('http://127.0.0.1/'))).toThrow(/emulator itself/);
    expect(() => new Egress([], () => 443).check(new URL('https://127.0.0.1/'))).toThrow(/emulator itself/);
    expect(() => new Egress([], () => 443).check(new URL('http://127.0.0.1/'))).not.toThrow();
  });

  it('is read for each check, because it is unknown until the emulator listens', () => {
    let port: number | undefined;
    const egress = new Egress([], () => port);
    const url = new URL('http://127.0.0.1:4477/');
    expect(() => egress.check(url)).not.toThrow();
    port = 4477;
    expect(() => egress.check(url)).toThrow(/emulator itself/);
  });
});
