import { isIPv6 } from 'node:net';
import type { asn1 as Asn1 } from 'node-forge';
import asn1 from 'node-forge/lib/asn1.js';
import { addressName } from './names.ts';

/*
 * The parts of a certificate. Bytes are Latin-1 text with one character per byte, as the package requires.
 */

const { UNIVERSAL, CONTEXT_SPECIFIC } = asn1.Class;

export type Part = Asn1.Asn1;

const plain = (type: Asn1.Type, bytes: string) => asn1.create(UNIVERSAL, type, false, bytes);

export const bytesOf = (buffer: Buffer): string => buffer.toString('latin1');
export const encode = (part: Part): Buffer => Buffer.from(asn1.toDer(part).getBytes(), 'latin1');
/** Reads existing DER, such as a public key. */
export const decode = (der: Buffer): Part => asn1.fromDer(bytesOf(der));

export const sequence = (...parts: Part[]): Part => asn1.create(UNIVERSAL, asn1.Type.SEQUENCE, true, parts);
export const set = (...parts: Part[]): Part => asn1.create(UNIVERSAL, asn1.Type.SET, true, parts);
export const oid = (dotted: string): Part => plain(asn1.Type.OID, asn1.oidToDer(dotted).getBytes());
export const integer = (bytes: string): Part => plain(asn1.Type.INTEGER, bytes);
export const text = (value: string): Part => plain(asn1.Type.UTF8, bytesOf(Buffer.from(value)));
export const yes = (): Part => plain(asn1.Type.BOOLEAN, '\xff');
export const octets = (bytes: string): Part => plain(asn1.Type.OCTETSTRING, bytes);
export const time = (at: Date): Part => plain(asn1.Type.UTCTIME, asn1.dateToUtcTime(at));

/** @param unused the number of unused bits at the end */
export const bits = (bytes: string, unused = 0): Part =>
  plain(asn1.Type.BITSTRING, String.fromCharCode(unused) + bytes);

/** A part that is identified only by its number. */
export const tagged = (tag: number, value: string | Part[]): Part =>
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
