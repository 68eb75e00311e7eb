import { isIP } from 'node:net';
import type { PeerCertificate } from 'node:tls';

/** Checks whether a certificate is for a host. Node 22's own check does not support IPv6 addresses. */
export async function identityCheck(): Promise<(host: string, of: PeerCertificate) => Error | undefined> {
  const [tls, { X509Certificate }] = await Promise.all([import('node:tls'), import('node:crypto')]);
  return (host, certificate) =>
    isIP(host) !== 0 && new X509Certificate(certificate.raw).checkIP(host) !== undefined
      ? undefined
      : tls.checkServerIdentity(host, certificate);
}
