import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import type { asn1 as Asn1 } from 'node-forge';
import asn1 from 'node-forge/lib/asn1.js';
import util from 'node-forge/lib/util.js';

/** How long an authority and its certificate are valid, starting an hour ago, because clocks differ. */
export const VALID_DAYS = 90;
/** The last second is included. */
const VALID_MS = VALID_DAYS * 24 * 3_600_000 - 1_000;

/** A server's certificate with its key. */
export interface Identity {
  cert: string;
  key: string;
  /** The absolute path of the certificate file that clients must trust. */
  caFile: string;
  /** Notices about the certificate. */
  notices: readonly string[];
  /** Removes files outside the data folder. */
  remove?: () => Promise<void>;
}

/** A certificate with its key and its authority's certificate, all as PEM. */
export type Issued = ReturnType<typeof issue>;

/**
 * Creates an authority and one certificate for these host names and addresses. The authority is limited to these names,
 * and its key is discarded, so that it cannot issue another certificate.
 *
 * @param names IPv6 addresses in their shortest form
 */
export function issue(names: readonly string[], now: number) {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = `gateway-sim local authority ${randomBytes(4).toString('hex')}`;
  const authorityId = keyId(authority.publicKey);
  const from = now - 3_600_000;

  function certificate(subject: string, publicKey: KeyObject, extensions: readonly Part[]): string {
    const signed = sequence(
      tagged(0, [integer('\x02')]),
      // A serial number must be positive, and its first byte must not be 0.
      integer(`\x4a${bytesOf(randomBytes(15))}`),
      ecdsaWithSha256(),
      nameOf(issuer),
      sequence(time(from), time(from + VALID_MS)),
      nameOf(subject),
      asn1.fromDer(bytesOf(publicKey.export({ type: 'spki', format: 'der' }))),
      tagged(3, [sequence(...extensions)]),
    );
    const signature = sign('sha256', encode(signed), authority.privateKey);
    return new X509Certificate(
      encode(sequence(signed, ecdsaWithSha256(), bits(bytesOf(signature)))),
    ).toString();
  }

  const ca = certificate(issuer, authority.publicKey, [
    extension('2.5.29.19', sequence(yes(), integer('\x00')), 'critical'),
    extension('2.5.29.15', bits('\x04', 2), 'critical'),
    // The only names that the authority may certify.
    extension(
      '2.5.29.30',
      sequence(
        tagged(
          0,
          names.map((name) => sequence(generalName(name, 'masked'))),
        ),
      ),
      'critical',
    ),
    serverAuthentication(),
    extension('2.5.29.14', octets(authorityId)),
  ]);
  const cert = certificate('gateway-sim', server.publicKey, [
    extension('2.5.29.19', sequence(), 'critical'),
    extension('2.5.29.15', bits('\x80', 7), 'critical'),
    serverAuthentication(),
    subjectNames(names),
    extension('2.5.29.35', sequence(tagged(0, authorityId))),
  ]);
  return { ca, cert, key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** Whether a certificate is for exactly these names, in any order. */
export function isFor(certificate: X509Certificate, names: readonly string[]): boolean {
  return certificate.raw.includes(encode(subjectNames(names)));
}

const COMMON_NAME = '2.5.4.3';
const DNS_NAME = 2;
const IP_ADDRESS = 7;

const ecdsaWithSha256 = () => sequence(oid('1.2.840.10045.4.3.2'));
const serverAuthentication = () => extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1')));
const nameOf = (commonName: string) => sequence(set(sequence(oid(COMMON_NAME), text(commonName))));

function extension(id: string, value: Part, critical?: 'critical'): Part {
  return sequence(oid(id), ...(critical ? [yes()] : []), octets(bytesOf(encode(value))));
}

/** Links a certificate to the key that signed it. */
function keyId(key: KeyObject): string {
  const der = key.export({ type: 'spki', format: 'der' });
  return bytesOf(createHash('sha1').update(der).digest());
}

const subjectNames = (names: readonly string[]) =>
  extension('2.5.29.17', sequence(...names.toSorted().map((name) => generalName(name))));

/** @param masked whether a mask follows an address, as in a constraint */
function generalName(name: string, masked?: 'masked'): Part {
  if (!isIP(name)) return tagged(DNS_NAME, name);
  const bytes = util.bytesFromIP(name) ?? '';
  return tagged(IP_ADDRESS, masked ? bytes + '\xff'.repeat(bytes.length) : bytes);
}

/*
 * Certificates are composed here, because node-forge signs its own only with RSA keys, which are slow to make, and
 * `@peculiar/x509` takes 40 ms to load instead of 3 ms. Bytes are Latin-1 text with one character per byte, as node-forge
 * requires.
 */

const { UNIVERSAL, CONTEXT_SPECIFIC } = asn1.Class;

type Part = Asn1.Asn1;

const plain = (type: Asn1.Type, bytes: string) => asn1.create(UNIVERSAL, type, false, bytes);

const bytesOf = (buffer: Buffer): string => buffer.toString('latin1');
const encode = (part: Part): Buffer => Buffer.from(asn1.toDer(part).getBytes(), 'latin1');

const sequence = (...parts: Part[]): Part => asn1.create(UNIVERSAL, asn1.Type.SEQUENCE, true, parts);
const set = (...parts: Part[]): Part => asn1.create(UNIVERSAL, asn1.Type.SET, true, parts);
const oid = (dotted: string): Part => plain(asn1.Type.OID, asn1.oidToDer(dotted).getBytes());
const integer = (bytes: string): Part => plain(asn1.Type.INTEGER, bytes);
const text = (value: string): Part => plain(asn1.Type.UTF8, bytesOf(Buffer.from(value)));
const yes = (): Part => plain(asn1.Type.BOOLEAN, '\xff');
const octets = (bytes: string): Part => plain(asn1.Type.OCTETSTRING, bytes);
const time = (at: number): Part => plain(asn1.Type.UTCTIME, asn1.dateToUtcTime(new Date(at)));

/** @param unused the number of unused bits at the end */
const bits = (bytes: string, unused = 0): Part =>
  plain(asn1.Type.BITSTRING, String.fromCharCode(unused) + bytes);

/** A part that is identified only by its number. */
const tagged = (tag: number, value: string | Part[]): Part =>
  asn1.create(CONTEXT_SPECIFIC, tag, typeof value !== 'string', value);
