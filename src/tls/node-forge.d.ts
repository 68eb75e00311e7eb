/* Parts of the package, loaded without the rest. */

declare module 'node-forge/lib/asn1.js' {
  import { asn1 } from 'node-forge';

  export default asn1;
}

declare module 'node-forge/lib/util.js' {
  const util: { bytesFromIP(address: string): string | null };

  export default util;
}
