'use strict';
// Leads connections of a Node program to the hosts of GATEWAY_SIM_HOST_ALIAS (pay.example.com, …) to the emulator at
// GATEWAY_SIM_URL, for programs that go through no proxy: fetch obeys one only from Node 22.21 and 24 on. The name in
// TLS and in the Host header stays, and so the certificate is checked as always.
//   node --import gateway-sim/alias-hosts shop.mjs
const { Socket } = require('node:net');
const { domainToASCII } = require('node:url');

const { GATEWAY_SIM_URL: url, GATEWAY_SIM_HOST_ALIAS: aliases = '' } = process.env;
if (!url || !aliases) {
  throw new Error('gateway-sim/alias-hosts needs GATEWAY_SIM_URL and GATEWAY_SIM_HOST_ALIAS');
}
const { protocol, hostname, port } = new URL(url);
const emulator = {
  host: hostname.replace(/^\[|\]$/g, ''),
  port: Number(port) || (protocol === 'https:' ? 443 : 80),
};
/** A name as a resolver reads it: in lower case, without the dot of the root. */
const nameOf = (host) => (domainToASCII(host) || host.toLowerCase()).replace(/\.$/, '');
const hosts = new Set(aliases.split(',').map((name) => nameOf(name.trim())));
// Of a comma too many: who names no host means this machine.
hosts.delete('');

const { connect } = Socket.prototype;
// Every client of Node connects by it, TLS and HTTP/2 too: with the options first, or in a list of its own, or with port
// and host.
Socket.prototype.connect = function connectToAlias(...args) {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  const isObject = typeof first === 'object' && first !== null;
  const host = isObject ? first.host : second;
  // Whatever the port: nothing that is meant for the emulator may get to the real host.
  if (typeof host !== 'string' || !hosts.has(nameOf(host))) return connect.apply(this, args);
  const callback = (Array.isArray(args[0]) ? args[0] : args).findLast((one) => typeof one === 'function');
  // The caller's own may be used again, for another host, or be frozen.
  const options = isObject ? Object.assign(Object.create(Object.getPrototypeOf(first)), first) : {};
  return connect.call(this, Object.assign(options, emulator), callback);
};
