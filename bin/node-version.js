// Older versions of Node read this file, gateway-sim.js and library.js, so they have only the syntax of Node 12.
const supported = require('../package.json').engines.node.slice('>='.length);
const { node } = process.versions;

const [[major, minor], [least, leastMinor]] = [node, supported].map((version) =>
  version.split('.').map(Number),
);
const isSupported = major > least || (major === least && minor >= leastMinor);

/** Why this version of Node cannot run gateway-sim, or null. */
exports.problem = isSupported ? null : `gateway-sim needs Node ${supported} or newer, this is ${node}`;
