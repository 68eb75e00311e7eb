// For `import`, the same code as for `require`: a program that uses both has one instance. If a CommonJS module throws,
// Node 20 reports the error of an `import` of it twice, so this requires it.
import { createRequire } from 'node:module';

const library = createRequire(import.meta.url)('./library.js');
export const { connectGatewaySim, GatewayError, signIpn, startGatewaySim, verifyIpn } = library;
