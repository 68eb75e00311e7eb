import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import type { asn1 as Asn1 } from 'node-forge';
import asn1 from 'node-forge/lib/asn1.js';
import { addressName } from './names.ts';

/** How long an authority and its certificate are valid, starting an hour ago, because clocks differ. */
export const VALID_DAYS = 90;
/** The last second is included. */
const VALID_MS = VALID_DAYS * 24 * 3_600_000 - 1_000;

/** A certificate with its key and its authority's certificate, all as PEM. */
export interface Issued {
  ca: string;
  cert: string;
  key: string;
}

/**
 * Creates an authority and one certificate for these host names and addresses. The authority is limited to these names,
 * and its key is discarded, so that it cannot issue another certificate.
 */
export function issue(names: readonly string[], now: number): Issued {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serial = randomBytes(4).toString('hex');
  const authorityId = keyId(authority.publicKey);
  const shared = {
    issuer: `gateway-sim local authority ${serial}`,
    authority,
    from: new Date(now - 3_600_000),
    to: new Date(now - 3_600_000 + VALID_MS),
  };
  const ca = certificate({
    ...shared,
    subject: shared.issuer,
    publicKey: authority.publicKey,
    extensions: [
      extension('2.5.29.19', sequence(yes(), integer('\x00')), 'critical'),
      extension('2.5.29.15', bits('\x04', 2), 'critical'),
      extension('2.5.29.30', nameConstraints(names), 'critical'),
      serverAuthentication(),
      extension('2.5.29.14', octets(authorityId)),
    ],
  });
  const cert = certificate({
    ...shared,
    subject: 'gateway-sim',
    publicKey: server.publicKey,
    extensions: [
      extension('2.5.29.19', sequence(), 'critical'),
      extension('2.5.29.15', bits('\x80', 7), 'critical'),
      serverAuthentication(),
      extension('2.5.29.17', sequence(...names.map(generalName))),
      extension('2.5.29.35', sequence(tagged(0, authorityId))),
    ],
  });
  return { ca, cert, key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

interface Contents {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  authority: { privateKey: KeyObject };
  from: Date;
  to: Date;
  extensions: readonly Part[];
}

const COMMON_NAME = '2.5.4.3';
const ecdsaWithSha256 = () => sequence(oid('1.2.840.10045.4.3.2'));

function certificate({ subject, issuer, publicKey, authority, from, to, extensions }: Contents): string {
  const signed = sequence(
    tagged(0, [integer('\x02')]),
    // A serial number must be positive, and its first byte must not be 0.
    integer(`\x4a${bytesOf(randomBytes(15))}`),
    ecdsaWithSha256(),
    nameOf(issuer),
    sequence(time(from), time(to)),
    nameOf(subject),
    decode(publicKey.export({ type: 'spki', format: 'der' })),
    tagged(3, [sequence(...extensions)]),
  );
  const signature = sign('sha256', encode(signed), authority.privateKey);
  return new X509Certificate(
    encode(sequence(signed, ecdsaWithSha256(), bits(bytesOf(signature)))),
  ).toString();
}

const nameOf = (commonName: string) => sequence(set(sequence(oid(COMMON_NAME), text(commonName))));

function extension(id: string, value: Part, critical?: 'critical'): Part {
  return sequence(oid(id), ...(critical ? [yes()] : []), octets(bytesOf(encode(value))));
}

const serverAuthentication = () => extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1')));

/** Links a certificate to the key that signed it. */
function keyId(key: KeyObject): string {
  return bytesOf(
    createHash('sha1')
      .update(key.export({ type: 'spki', format: 'der' }))
      .digest(),
  );
}

const DNS_NAME = 2;
const IP_ADDRESS = 7;

function generalName(name: string): Part {
  return isIP(name) ? tagged(IP_ADDRESS, addressBytes(name)) : tagged(DNS_NAME, name);
}

/** The only names that the authority may certify. */
function nameConstraints(names: readonly string[]): Part {
  const subtree = (name: string) =>
    isIP(name)
      ? tagged(IP_ADDRESS, addressBytes(name) + '\xff'.repeat(isIPv6(name) ? 16 : 4))
      : tagged(DNS_NAME, name);
  return sequence(
    tagged(
      0,
      names.map((name) => sequence(subtree(name))),
    ),
  );
}

/*
 * Bytes are Latin-1 text with one character per byte, as the package requires.
 */

const { UNIVERSAL, CONTEXT_SPECIFIC } = asn1.Class;

type Part = Asn1.Asn1;

const plain = (type: Asn1.Type, bytes: string) => asn1.create(UNIVERSAL, type, false, bytes);

const bytesOf = (buffer: Buffer): string => buffer.toString('latin1');
const encode = (part: Part): Buffer => Buffer.from(asn1.toDer(part).getBytes(), 'latin1');
/** Reads existing DER, such as a public key. */
const decode = (der: Buffer): Part => asn1.fromDer(bytesOf(der));

const sequence = (...parts: Part[]): Part => asn1.create(UNIVERSAL, asn1.Type.SEQUENCE, true, parts);
const set = (...parts: Part[]): Part => asn1.create(UNIVERSAL, asn1.Type.SET, true, parts);
const oid = (dotted: string): Part => plain(asn1.Type.OID, asn1.oidToDer(dotted).getBytes());
const integer = (bytes: string): Part => plain(asn1.Type.INTEGER, bytes);
const text = (value: string): Part => plain(asn1.Type.UTF8, bytesOf(Buffer.from(value)));
const yes = (): Part => plain(asn1.Type.BOOLEAN, '\xff');
const octets = (bytes: string): Part => plain(asn1.Type.OCTETSTRING, bytes);
const time = (at: Date): Part => plain(asn1.Type.UTCTIME, asn1.dateToUtcTime(at));

/** @param unused the number of unused bits at the end */
const bits = (bytes: string, unused = 0): Part =>
  plain(asn1.Type.BITSTRING, String.fromCharCode(unused) + bytes);

/** A part that is identified only by its number. */
const tagged = (tag: number, value: string | Part[]): Part =>
  asn1.create(CONTEXT_SPECIFIC, tag, typeof value !== 'string', value);

/** The bytes of an IP address. */
export function addressBytes(address: string): string {
  if (!isIPv6(address)) return String.fromCharCode(...address.split('.').map(Number));
  const [head = [], tail = []] = addressName(address)
    .split('::')
    .map((half) => half.split(':').filter(Boolean));
  const groups = [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
  return bytesOf(Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex'));
}
