import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import {
  addressBytes,
  bits,
  bytesOf,
  decode,
  encode,
  integer,
  octets,
  oid,
  type Part,
  sequence,
  set,
  tagged,
  text,
  time,
  yes,
} from './der.ts';

/** What an authority and its certificate are valid for, from an hour ago on: clocks differ. */
export const VALID_DAYS = 90;
/** The last second counts. */
const VALID_MS = VALID_DAYS * 24 * 3_600_000 - 1_000;

/** A certificate with its key, and that of the authority that issued it, all as PEM. */
export interface Issued {
  ca: string;
  cert: string;
  key: string;
}

/**
 * Makes an authority and one certificate of it for these host names and addresses. The authority may vouch for nothing
 * else, and its key is gone when this returns: nobody can issue a second certificate by it.
 */
export function issue(names: readonly string[], now: number): Issued {
  const authority = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const server = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const serial = randomBytes(4).toString('hex');
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
    extensions: ofAuthority(names, authority.publicKey),
  });
  const cert = certificate({
    ...shared,
    subject: 'gateway-sim',
    publicKey: server.publicKey,
    extensions: ofServer(names, authority.publicKey),
  });
  return { ca, cert, key: server.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
}

/** What an authority may do. */
const ofAuthority = (names: readonly string[], authority: KeyObject) => [
  extension('2.5.29.19', sequence(yes(), integer('\x00')), 'critical'),
  extension('2.5.29.15', bits('\x04', 2), 'critical'),
  extension('2.5.29.30', nameConstraints(names), 'critical'),
  serverAuthentication(),
  extension('2.5.29.14', octets(keyId(authority))),
];

const ofServer = (names: readonly string[], authority: KeyObject) => [
  extension('2.5.29.19', sequence(), 'critical'),
  extension('2.5.29.15', bits('\x80', 7), 'critical'),
  serverAuthentication(),
  extension('2.5.29.17', sequence(...names.map(generalName))),
  extension('2.5.29.35', sequence(tagged(0, keyId(authority)))),
];

/**
 * Whether an authority and its certificate may do what those of `issue` may, and nothing else: an authority that came
 * from elsewhere could vouch for any host, for years.
 *
 * @throws Error for what is no certificate
 */
export function isAsIssued({ ca, cert }: Pick<Issued, 'ca' | 'cert'>, names: readonly string[]): boolean {
  const { publicKey } = new X509Certificate(ca);
  return (
    isMadeOf(ca, publicKey, ofAuthority(names, publicKey)) &&
    isMadeOf(cert, publicKey, ofServer(names, publicKey))
  );
}

/** Whether a text is one certificate, signed with this key, with these extensions and our lifetime. */
function isMadeOf(text: string, authority: KeyObject, extensions: readonly Part[]): boolean {
  const certificate = new X509Certificate(text);
  const { raw, validFrom, validTo } = certificate;
  const [signed, algorithm, signature] = partsOf(decode(raw));
  const [, serial, , issuer, validity, subject, key] = partsOf(signed);
  if (!algorithm || !signature || !serial || !issuer || !validity || !subject || !key) return false;
  const expected = signedPart({ serial, issuer, validity, subject, key, extensions });
  return (
    text === pem(raw) &&
    raw.equals(encode(sequence(expected, algorithm, signature))) &&
    certificate.verify(authority) &&
    Date.parse(validTo) - Date.parse(validFrom) <= VALID_MS
  );
}

const partsOf = (part: Part | undefined): Part[] => (Array.isArray(part?.value) ? part.value : []);

interface Contents {
  subject: string;
  issuer: string;
  publicKey: KeyObject;
  authority: { privateKey: KeyObject };
  from: Date;
  to: Date;
  extensions: readonly Part[];
}

const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';
const COMMON_NAME = '2.5.4.3';
const algorithmOf = () => sequence(oid(ECDSA_WITH_SHA256));

function certificate({ subject, issuer, publicKey, authority, from, to, extensions }: Contents): string {
  const signed = signedPart({
    // A number must be positive, and its first byte not 0.
    serial: integer(`\x4a${bytesOf(randomBytes(15))}`),
    issuer: nameOf(issuer),
    validity: sequence(time(from), time(to)),
    subject: nameOf(subject),
    key: decode(publicKey.export({ type: 'spki', format: 'der' })),
    extensions,
  });
  const signature = sign('sha256', encode(signed), authority.privateKey);
  return pem(encode(sequence(signed, algorithmOf(), bits(bytesOf(signature)))));
}

interface SignedParts extends Record<'serial' | 'issuer' | 'validity' | 'subject' | 'key', Part> {
  extensions: readonly Part[];
}

function signedPart({ serial, issuer, validity, subject, key, extensions }: SignedParts): Part {
  return sequence(
    tagged(0, [integer('\x02')]),
    serial,
    algorithmOf(),
    issuer,
    validity,
    subject,
    key,
    tagged(3, [sequence(...extensions)]),
  );
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

const nameOf = (commonName: string) => sequence(set(sequence(oid(COMMON_NAME), text(commonName))));

function extension(id: string, value: Part, critical?: 'critical'): Part {
  return sequence(oid(id), ...(critical ? [yes()] : []), octets(bytesOf(encode(value))));
}

const serverAuthentication = () => extension('2.5.29.37', sequence(oid('1.3.6.1.5.5.7.3.1')));

/** Ties a certificate to the key that signed it. */
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

/** All that the authority may vouch for. */
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
