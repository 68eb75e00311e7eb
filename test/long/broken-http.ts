import { type Below, pick } from './hostile-values.ts';

const HOST = 'Host: 127.0.0.1\r\n';
const POST = `POST /sandbox/payment/initiate HTTP/1.1\r\n${HOST}`;
/** The target of a request inside the body of another one. The server must never answer it. */
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
const ODD_HEADERS = ['x', ': x', 'X Y: z', ' X: y', 'X\0: y', 'X: \0', '\xff: x', 'X:\ry'];
const METHODS = [
  ...'BREW get GET\0 CONNECT TRACE PRI OPTIONS PROPFIND M-SEARCH'.split(' '),
  '',
  'X'.repeat(100),
];
const VERSIONS = [
  ...'HTTP/0.9 HTTP/1.0 HTTP/1.2 HTTP/2.0 HTTP/9.9 http/1.1 HTTP/11 ICY'.split(' '),
  ...['', 'HTTP/1.1 x'],
];

/** A request that no well-behaved client sends. */
export interface Broken {
  /** What is wrong with it. */
  what: string;
  bytes: string;
  /** Whether a server may accept it. */
  isTolerable?: boolean;
  /** Whether the client closes its side after these bytes. */
  ends?: boolean;
}

const longText = (below: Below) => 'x'.repeat(pick([1, 100, 8_000, 16_300, 16_400, 100_000], below));
const controls = (below: Below) => String.fromCharCode(pick([0, 1, 8, 11, 12, 27, 127], below));
const chunked = (chunks: string) =>
  `${POST}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`;

/** A GET that closes its connection. @param headers the headers, each with its line end */
const get = (target: string, headers = HOST) =>
  `GET ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`;

type Maker = (below: Below) => Broken;

/** Unusual but valid HTTP: a server may accept it. */
const TOLERABLE: readonly Maker[] = [
  (below) => ({ what: 'a method', bytes: get('/').replace('GET', pick(METHODS, below)) }),
  (below) => ({ what: 'a version', bytes: get('/').replace('HTTP/1.1', pick(VERSIONS, below)) }),
  (below) => ({ what: 'a target', bytes: get(pick(TARGETS, below)) }),
  (below) => ({ what: 'a long target', bytes: get(`/${longText(below)}`) }),
  (below) => ({
    what: 'an odd header',
    bytes: get('/_sim/merchants', `${HOST}${pick(ODD_HEADERS, below)}\r\n`),
  }),
  (below) => ({ what: 'long headers', bytes: get('/', `${HOST}X: ${longText(below)}\r\n`) }),
  (below) => ({ what: 'many headers', bytes: get('/', HOST + 'X: y\r\n'.repeat(below(4_000))) }),
  (below) => ({
    what: 'a long chunk extension',
    bytes: chunked(`5;${'a=b;'.repeat(below(8_000))}\r\nhello\r\n0\r\n\r\n`),
    ends: true,
  }),
  (below) => ({
    what: 'trailers',
    bytes: chunked(
      `0\r\nHost: evil.test\r\nContent-Length: ${below(9)}\r\n${'X: y\r\n'.repeat(below(50))}\r\n`,
    ),
    ends: true,
  }),
  (below) => ({
    what: 'an Expect header',
    bytes: `${POST}Expect: ${pick(['100-continue', 'miracles', '', '100-continue, x'], below)}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
  }),
  (below) => ({
    what: 'bare line feeds',
    bytes: `GET / HTTP/1.1\n${HOST}${pick(['\n', '\r\n\r\n', '\n\n'], below)}`,
    ends: true,
  }),
  (below) => ({
    what: 'an encoded body',
    bytes: `${POST}Content-Type: application/json\r\nContent-Encoding: ${pick(['gzip', 'br', 'deflate, gzip', 'x'], below)}\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}`,
  }),
];

/** A server must reject these. */
const INTOLERABLE: readonly Maker[] = [
  (below) => ({
    what: 'random bytes',
    bytes: Array.from({ length: below(400) + 1 }, () => String.fromCharCode(below(256))).join(''),
    ends: true,
  }),
  (below) => ({ what: 'a foreign Host', bytes: get('/_sim/merchants', `Host: ${pick(HOSTS, below)}\r\n`) }),
  (below) => ({
    what: 'two Hosts',
    bytes: get('/_sim/merchants', `Host: evil.test\r\nHost: ${pick(HOSTS, below)}\r\n`),
  }),
  () => ({ what: 'no Host', bytes: get('/_sim/merchants', '') }),
  (below) => ({
    what: 'a control character',
    bytes: get(`/a${controls(below)}b`, `${HOST}X: a${controls(below)}b\r\n`),
  }),
  (below) => ({
    what: 'conflicting body lengths',
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
    what: 'a chunk that is longer than declared',
    bytes: chunked(`${below(3) + 1}\r\nhello\r\n0\r\n\r\n${INNER}`),
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
  () => ({ what: 'a TLS hello', bytes: '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', ends: true }),
];

export function brokenRequest(below: Below): Broken {
  const number = below(TOLERABLE.length + INTOLERABLE.length);
  const tolerable = TOLERABLE[number];
  if (tolerable) return { ...tolerable(below), isTolerable: true };
  return pick(INTOLERABLE, below)(below);
}
