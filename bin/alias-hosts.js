'use strict';
// Redirects a Node program's connections to the hosts in GATEWAY_SIM_HOST_ALIAS (pay.example.com, …) to the emulator at
// GATEWAY_SIM_URL. For programs that cannot use a proxy: fetch supports one only since Node 22.21 and 24. The host name
// in TLS and in the Host header stays the same, so the certificate is checked as usual.
//   node --import gateway-sim/alias-hosts shop.mjs
const { Socket } = require('node:net');
const { domainToASCII } = require('node:url');

const { GATEWAY_SIM_URL: url, GATEWAY_SIM_HOST_ALIAS: aliases = '' } = process.env;
if (!url || !aliases) {
  throw new Error('gateway-sim/alias-hosts requires GATEWAY_SIM_URL and GATEWAY_SIM_HOST_ALIAS');
}
const { protocol, hostname, port } = new URL(url);
const emulator = {
  host: hostname.replace(/^\[|\]$/g, ''),
  port: Number(port) || (protocol === 'https:' ? 443 : 80),
};
/** A name as a resolver reads it: in lower case, without the trailing dot. */
const nameOf = (host) => (domainToASCII(host) || host.toLowerCase()).replace(/\.$/, '');
const hosts = new Set(aliases.split(',').map((name) => nameOf(name.trim())));
// An extra comma adds an empty name, and an empty host means this machine.
hosts.delete('');

const { connect } = Socket.prototype;
// Every client in Node connects through this, including TLS and HTTP/2. The arguments are options, a list with options, or port
// and host.
Socket.prototype.connect = function connectToAlias(...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const isObject = typeof first === 'object' && first !== null;
  const host = isObject ? first.host : second;
  // On any port: requests for the emulator must never reach the real host.
  if (typeof host !== 'string' || !hosts.has(nameOf(host))) return connect.apply(this, args);
  const callback = (Array.isArray(args[0]) ? args[0] : args).findLast((one) => typeof one === 'function');
  // The caller may reuse its options for another host, or freeze them.
  const options = isObject ? Object.assign(Object.create(Object.getPrototypeOf(first)), first) : {};
  return connect.call(this, Object.assign(options, emulator), callback);
};
