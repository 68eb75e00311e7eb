import { type Below, pick } from './hostile-values.ts';

/** Networks to which IPNs may be sent, as listed in README and `retries.md`. */
const LOCAL_4 = ['127.0.0.0/8', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];
/** Addresses of cloud metadata services, some of them on a private network. */
const METADATA_4 = ['169.254.169.254', '168.63.129.16', '100.100.100.200', '192.0.0.192', '169.254.170.2'];
const METADATA_6 = ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:c1::a9fe:a9fe', 'fd00:42::42'];
const METADATA_NETWORKS = ['fd00:ec2', 'fd20:ce', 'fd00:c1', 'fd00:42'];
const OTHERS_6 = [
  '::1',
  '::',
  '::2',
  'fc00::',
  'fdff:ffff::1',
  'fbff::1',
  'fe00::1',
  'fe80::1',
  'ff02::1',
  '2606:2800:220:1::1',
];

const number4 = (dotted: string) => dotted.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
const dotted4 = (value: number) => [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');

function isLocal4(value: number): boolean {
  return LOCAL_4.some((network) => {
    const [address = '', bits] = network.split('/');
    const size = 2 ** (32 - Number(bits));
    return value >= number4(address) && value < number4(address) + size;
  });
}

/** The eight groups of an IPv6 address in the notation of `URL`. */
function groups6(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const parts = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  if (tail === undefined) return parts(head);
  const [before, after] = [parts(head), parts(tail)];
  return [...before, ...Array<number>(8 - before.length - after.length).fill(0), ...after];
}

/**
 * Whether an IPN may be sent to an address, decided independently of the emulator.
 *
 * @param host a host in the notation of `URL`
 */
export function mayReach(host: string): boolean {
  if (!host.startsWith('[')) return isLocal4(number4(host)) && !METADATA_4.includes(host);
  const groups = groups6(host.slice(1, -1));
  const [first = 0, second = 0] = groups;
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff;
  if (isMapped) return mayReach(dotted4((groups[6] ?? 0) * 65_536 + (groups[7] ?? 0)));
  const network = `${first.toString(16)}:${second.toString(16)}`;
  const isOwn = groups.slice(0, 7).every((group) => group === 0) && groups[7] === 1;
  return isOwn || ((first & 0xfe00) === 0xfc00 && !METADATA_NETWORKS.includes(network));
}

function some4(below: Below): number {
  const edges = LOCAL_4.flatMap((network) => {
    const [address = '', bits] = network.split('/');
    const start = number4(address);
    const end = start + 2 ** (32 - Number(bits));
    return [start - 1, start, start + 1, end - 1, end];
  });
  const known = [...METADATA_4, '0.0.0.0', '255.255.255.255', '8.8.8.8', '224.0.0.1', '100.64.0.1'].map(
    number4,
  );
  return pick([...edges, ...known, below(2 ** 32), below(2 ** 32)], below);
}

/** Writes an IPv4 address in one of the many notations that browsers and libraries accept. */
function spelled4(value: number, below: Below): string {
  const parts = dotted4(value).split('.').map(Number);
  const base = () => pick([10, 8, 16], below);
  const written = (part: number) => {
    const as = base();
    const digits = part.toString(as);
    return as === 8
      ? `0${digits}`
      : as === 16
        ? pick([`0x${digits}`, `0X${digits.toUpperCase()}`, `0x00${digits}`], below)
        : digits;
  };
  const [a = 0, b = 0, c = 0, d = 0] = parts;
  const hex = (high: number, low: number) => ((high << 8) | low).toString(16);
  const groups = `${hex(a, b)}:${hex(c, d)}`;
  return pick(
    [
      () => dotted4(value),
      () => parts.map(written).join('.'),
      () => written(value),
      () => `${written(a)}.${written(value % 2 ** 24)}`,
      () => `${written(a)}.${written(b)}.${written(value % 2 ** 16)}`,
      () => `${dotted4(value)}.`,
      () =>
        [...dotted4(value)]
          .map((digit) =>
            digit === '.' ? pick(['.', '。', '．'], below) : String.fromCodePoint(0xff10 + Number(digit)),
          )
          .join(''),
      () => [...dotted4(value)].map((digit) => `%${digit.charCodeAt(0).toString(16)}`).join(''),
      () => `[::ffff:${dotted4(value)}]`,
      () => `[0:0:0:0:0:FFFF:${groups}]`,
      () => `[::${groups}]`,
      () => `[2002:${groups}::]`,
      () => `[64:ff9b::${dotted4(value)}]`,
      () => `[2001:0:${groups}::1]`,
    ],
    below,
  )();
}

function spelled6(below: Below): string {
  const address = pick([...METADATA_6, ...OTHERS_6], below);
  const full = groups6(address)
    .map((group) => group.toString(16).padStart(4, '0'))
    .join(':');
  return `[${pick([address, address.toUpperCase(), full, full.toUpperCase()], below)}]`;
}

/** Draws an address of any family, in any notation. */
export function spelledHost(below: Below): string {
  return below(4) ? spelled4(some4(below), below) : spelled6(below);
}
