import { type Below, pick } from './hostile-values.ts';

const HOST = 'Host: 127.0.0.1\r\n';
const POST = `POST /sandbox/payment/initiate HTTP/1.1\r\n${HOST}`;
/** Must never be read as a request: it is in the body of another one. */
export const SMUGGLED = '/smuggled';
const INNER = `GET ${SMUGGLED} HTTP/1.1\r\n${HOST}\r\n`;

/** Framing headers that two servers could read differently. */
const FRAMINGS = [
  'Content-Length: 4\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nContent-Length: 4',
  'Content-Length: 4\r\nContent-Length: 5',
  'Content-Length: 4, 5',
  'Content-Length: +4',
  'Content-Length: 0x4',
  'Content-Length: 4 4',
  'Content-Length: 1e1',
  'Content-Length : 4',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999999',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding:\x0bchunked',
  'X: y\nTransfer-Encoding: chunked\r\nContent-Length: 4',
  ' Transfer-Encoding: chunked\r\nContent-Length: 4',
  'Foo: bar\r\n\tTransfer-Encoding: chunked\r\nContent-Length: 4',
];
const TARGETS = [
  ...'http://evil.test/_sim/status http://169.254.169.254/ https://127.0.0.1/_sim ftp://a/ evil.test:80'.split(
    ' ',
  ),
  ...'* // //evil.test /.. /%2e%2e/_sim /_sim/%00 /% /%zz ?x # \\ /\\..\\ /_sim/../_sim/status'.split(' '),
  ...'/_sim//status /_sim/;/status /_SIM/status /_sim/status%2f /\xff\xfe'.split(' '),
  ...['', '/a b'],
];
const HOSTS = [
  ...'evil.test 127.0.0.1.evil.test localhost.evil.test evil.test#127.0.0.1 evil.test@127.0.0.1'.split(' '),
  ...'127.0.0.1@evil.test 169.254.169.254 0.0.0.0 [::ffff:8.8.8.8] 127.0.0.999 [ [::1 :'.split(' '),
  ...'evil.test:4477 a:99999999 \xff localhost. xn-- -'.split(' '),
  ...['a b', '127.0.0.1, evil.test', 'a'.repeat(5_000)],
];
const METHODS = [
  ...'BREW get GET\0 CONNECT TRACE PRI OPTIONS PROPFIND M-SEARCH'.split(' '),
  '',
  'X'.repeat(100),
];
const VERSIONS = [
  ...'HTTP/0.9 HTTP/1.0 HTTP/1.2 HTTP/2.0 HTTP/9.9 http/1.1 HTTP/11 ICY'.split(' '),
  ...['', 'HTTP/1.1 x'],
];

/** Bytes that no well-behaved client sends. */
export interface Broken {
  /** The mistake in them. */
  what: string;
  bytes: string;
  /** Whether a server may accept them unchanged: unusual, but valid HTTP. */
  isTolerable?: boolean;
  /** The client closes its side in the middle of its request. */
  ends?: boolean;
}

const longText = (below: Below) => 'x'.repeat(pick([1, 100, 8_000, 16_300, 16_400, 100_000], below));
const controls = (below: Below) => String.fromCharCode(pick([0, 1, 8, 11, 12, 27, 127], below));
const chunked = (chunks: string) =>
  `${POST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;

type Maker = (below: Below) => Broken;

const MAKERS: readonly Maker[] = [
  (below) => ({
    what: 'bytes at random',
    bytes: Array.from({ length: below(400) + 1 }, () => String.fromCharCode(below(256))).join(''),
    ends: true,
  }),
  (below) => ({
    what: 'a method',
    bytes: `${pick(METHODS, below)} / HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
    isTolerable: true,
  }),
  (below) => ({
    what: 'a version',
    bytes: `GET / ${pick(VERSIONS, below)}\r\n${HOST}Connection: close\r\n\r\n`,
    isTolerable: true,
  }),
  (below) => ({
    what: 'a target',
    bytes: `GET ${pick(TARGETS, below)} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
    isTolerable: true,
  }),
  (below) => ({
    what: 'a long target',
    bytes: `GET /${longText(below)} HTTP/1.1\r\n${HOST}Connection: close\r\n\r\n`,
    isTolerable: true,
  }),
  (below) => ({
    what: 'a foreign Host',
    bytes: `GET /_sim/merchants HTTP/1.1\r\nHost: ${pick(HOSTS, below)}\r\nConnection: close\r\n\r\n`,
  }),
  (below) => ({
    what: 'two Hosts',
    bytes: `GET /_sim/merchants HTTP/1.1\r\nHost: evil.test\r\nHost: ${pick(HOSTS, below)}\r\nConnection: close\r\n\r\n`,
  }),
  () => ({ what: 'no Host', bytes: 'GET /_sim/merchants HTTP/1.1\r\nConnection: close\r\n\r\n' }),
  (below) => ({
    what: 'a header of another form',
    bytes: `GET /_sim/merchants HTTP/1.1\r\n${HOST}${pick(['x', ': x', 'X Y: z', ' X: y', 'X\0: y', 'X: \0', '\xff: x', 'X:\ry'], below)}\r\nConnection: close\r\n\r\n`,
    isTolerable: true,
  }),
  (below) => ({
    what: 'a control character',
    bytes: `GET /a${controls(below)}b HTTP/1.1\r\n${HOST}X: a${controls(below)}b\r\nConnection: close\r\n\r\n`,
  }),
  (below) => ({
    what: 'long headers',
    bytes: `GET / HTTP/1.1\r\n${HOST}X: ${longText(below)}\r\nConnection: close\r\n\r\n`,
    isTolerable: true,
  }),
  (below) => ({
    what: 'many headers',
    bytes: `GET / HTTP/1.1\r\n${HOST}${'X: y\r\n'.repeat(below(4_000))}Connection: close\r\n\r\n`,
    isTolerable: true,
  }),
  (below) => ({
    what: 'two ways to frame a body',
    bytes: `${POST}${pick(FRAMINGS, below)}\r\n\r\n0\r\n\r\n${INNER}`,
  }),
  (below) => ({
    what: 'a broken chunk',
    bytes: chunked(
      `${pick(['zz', '-1', '0x5', '5;', `${'0'.repeat(40)}5`, 'ffffffffffffffffff', '5 5', '', '\r\n'], below)}\r\nhello\r\n${INNER}`,
    ),
    ends: true,
  }),
  (below) => ({
    what: 'a chunk that is longer than it says',
    bytes: chunked(`${below(3) + 1}\r\nhello\r\n0\r\n\r\n${INNER}`),
  }),
  (below) => ({
    what: 'an endless chunk extension',
    bytes: chunked(`5;${'a=b;'.repeat(below(8_000))}\r\nhello\r\n0\r\n\r\n`),
    ends: true,
    isTolerable: true,
  }),
  (below) => ({
    what: 'trailers',
    bytes: chunked(
      `0\r\nHost: evil.test\r\nContent-Length: ${below(9)}\r\n${'X: y\r\n'.repeat(below(50))}\r\n`,
    ),
    ends: true,
    isTolerable: true,
  }),
  (below) => ({
    what: 'an early end',
    bytes: `${POST}Content-Type: application/json\r\nContent-Length: 500\r\n\r\n{"a":"b"}`.slice(
      0,
      below(160) + 1,
    ),
    ends: true,
  }),
  (below) => ({
    what: 'an upgrade',
    bytes: `GET /_sim/events HTTP/1.1\r\nHost: evil.test\r\nConnection: Upgrade\r\nUpgrade: ${pick(['websocket', 'h2c', 'TLS/1.0', 'x'], below)}\r\nSec-WebSocket-Key: a\r\nHTTP2-Settings: a\r\n\r\n`,
    ends: true,
  }),
  (below) => ({
    what: 'an Expect',
    bytes: `${POST}Expect: ${pick(['100-continue', 'miracles', '', '100-continue, x'], below)}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
    isTolerable: true,
  }),
  (below) => ({
    what: 'bare line feeds',
    bytes: `GET / HTTP/1.1\n${HOST}${pick(['\n', '\r\n\r\n', '\n\n'], below)}`,
    ends: true,
    isTolerable: true,
  }),
  () => ({ what: 'the hello of TLS', bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', ends: true }),
  (below) => ({
    what: 'a coding of the body',
    bytes: `${POST}Content-Type: application/json\r\nContent-Encoding: ${pick(['gzip', 'br', 'deflate, gzip', 'x'], below)}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
    isTolerable: true,
  }),
];

export function brokenRequest(below: Below): Broken {
  return pick(MAKERS, below)(below);
}
