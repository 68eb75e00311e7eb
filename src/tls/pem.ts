import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { addressName } from './address-name.ts';

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** The certificates in a text, in their order. @throws Error for one that cannot be read */
export function certificatesIn(pem: string): X509Certificate[] {
  return [...pem.matchAll(CERTIFICATE)].map(([text]) => new X509Certificate(text));
}

/** The host names and addresses that a certificate is for, addresses as `::1`. */
export function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  return subjectAltName.split(', ').flatMap((entry) => {
    const [, kind, name = ''] = /^(DNS|IP Address):(.+)$/.exec(entry) ?? [];
    if (kind === undefined) return [];
    return [addressName(name)];
  });
}

/** Whether a certificate is for a host name or address. */
export function covers(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined;
}

/** Whether a certificate vouches for itself. */
export function isSelfSigned(certificate: X509Certificate): boolean {
  return certificate.checkIssued(certificate) && certificate.verify(certificate.publicKey);
}
