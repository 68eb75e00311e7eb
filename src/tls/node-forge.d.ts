/** The part of the package that writes ASN.1, which can be loaded without the rest of it. */
declare module 'node-forge/lib/asn1.js' {
  import { asn1 } from 'node-forge';

  export default asn1;
}
