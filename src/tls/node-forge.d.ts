/** The ASN.1 part of the package, loaded without the rest. */
declare module 'node-forge/lib/asn1.js' {
  import { asn1 } from 'node-forge';

  export default asn1;
}
