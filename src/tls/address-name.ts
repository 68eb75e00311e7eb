import { isIPv6 } from 'node:net';

/** An IPv6 address in its shortest form, which is also that of one that holds an IPv4 address; any other as it is. */
export function addressName(address: string): string {
  const [plain = ''] = address.split('%');
  return isIPv6(plain) ? new URL(`http://[${plain}]`).hostname.slice(1, -1) : address;
}
