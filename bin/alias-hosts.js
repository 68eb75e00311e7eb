'use strict';
// Leads connections of a Node program to the hosts of GATEWAY_SIM_HOST_ALIAS (pay.example.com, …) to the emulator at
// GATEWAY_SIM_URL, for programs that go through no proxy: fetch obeys one only from Node 22.21 and 24 on. The name in
// TLS and in the Host header stays, and so the certificate is checked as always.
//   node --import gateway-sim/alias-hosts shop.mjs
const { Socket } = require('node:net');

const { GATEWAY_SIM_URL: url, GATEWAY_SIM_HOST_ALIAS: aliases = '' } = process.env;
if (!url || !aliases) {
  throw new Error('gateway-sim/alias-hosts needs GATEWAY_SIM_URL and GATEWAY_SIM_HOST_ALIAS');
}
const { protocol, hostname, port } = new URL(url);
const emulator = {
  host: hostname.replace(/^\[|\]$/g, ''),
  port: Number(port) || (protocol === 'https:' ? 443 : 80),
};
const hosts = new Set(
  aliases
    .toLowerCase()
    .split(',')
    .map((name) => name.trim()),
);

const { connect } = Socket.prototype;
// Every client of Node connects by it, with the options first, or in a list of its own.
Socket.prototype.connect = function connectToAlias(...args) {
  const options = Array.isArray(args[0]) ? args[0][0] : args[0];
  const isAlias = typeof options === 'object' && hosts.has(String(options?.host).toLowerCase());
  // Whatever the port: nothing that is meant for the emulator may get to the real host.
  if (isAlias) Object.assign(options, emulator);
  return connect.apply(this, args);
};
