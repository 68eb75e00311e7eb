import type { X509Certificate } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';

/** An IPv6 address in its shortest form, even if it contains an IPv4 address. Other names are returned unchanged. */
export function addressName(address: string): string {
  const [plain = ''] = address.split('%');
  return isIPv6(plain) ? new URL(`http://[${plain}]`).hostname.slice(1, -1) : address;
}

/** The host names and addresses that a certificate is for, addresses as `::1`. */
export function namesOf({ subjectAltName = '' }: X509Certificate): string[] {
  const entries = subjectAltName.matchAll(/(?:^|, )(?:DNS|IP Address):([^,]+)/g);
  return [...entries].map(([, name = '']) => addressName(name));
}

/** Whether a certificate is for a host name or address. */
export function covers(certificate: X509Certificate, name: string): boolean {
  return (isIP(name) ? certificate.checkIP(name) : certificate.checkHost(name)) !== undefined;
}
