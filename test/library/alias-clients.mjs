// Connects to the alias in every way that Node offers. Prints as JSON where each connection went and which names were
// looked up.
import dns from 'node:dns';
import http from 'node:http';
import http2 from 'node:http2';
import https from 'node:https';
import net from 'node:net';
import tls from 'node:tls';

const { ALIAS: alias, TLS } = process.env;
const scheme = TLS ? 'https' : 'http';
const looked = [];
dns.lookup = (name, ...more) => {
  looked.push(name);
  more.at(-1)(new Error(`${name} was looked up`));
};

/** The port of a connection; `changed` if the given options were modified. */
const reached = (open, options) =>
  new Promise((resolve) => {
    const before = JSON.stringify(options);
    const socket = open(options);
    socket.once('error', ({ message }) => resolve(message));
    socket.once(socket instanceof tls.TLSSocket && !socket.connecting ? 'secureConnect' : 'connect', () => {
      resolve(JSON.stringify(options) === before ? socket.remotePort : 'changed');
      socket.destroy();
    });
  });
const requested = (options) =>
  new Promise((resolve) => {
    const { request } = TLS ? https : http;
    const sent = request(options, (answer) => resolve(answer.resume().socket.remotePort));
    sent.once('error', ({ message }) => resolve(message)).end();
  });
const session = (host) =>
  new Promise((resolve) => {
    const begun = http2.connect(`${scheme}://${host}`);
    begun.once('error', ({ message }) => resolve(message));
    begun.once('connect', (_, socket) => {
      resolve(socket.remotePort);
      begun.destroy();
    });
  });

const ways = {
  'net.connect': (host) => reached(() => net.connect(443, host)),
  'net.connect by options': (host) => reached((options) => net.connect(options), { host, port: 443 }),
  'Socket.connect': (host) => reached(() => new net.Socket().connect(443, host)),
  'Socket.connect by options': (host) =>
    reached((options) => new net.Socket().connect(options), Object.freeze({ host, port: 443 })),
  'TLSSocket.connect': (host) => reached(() => new tls.TLSSocket().connect(443, host)),
  'tls.connect': (host) => reached(() => tls.connect(443, host)),
  'tls.connect by options': (host) => reached((options) => tls.connect(options), { host, port: 443 }),
  'tls.connect over a socket': (host) =>
    reached(() => tls.connect({ socket: net.connect(443, host), servername: alias })),
  'http(s).request': (host) => requested({ host }),
  'http(s).request by address': (host) => requested(`${scheme}://${host}/`),
  http2: session,
  fetch: (host) =>
    fetch(`${scheme}://${host}/_sim/livez`).then(
      ({ status }) => status,
      ({ cause }) => cause.message,
    ),
};

const results = {};
for (const [way, reach] of Object.entries(ways)) {
  if (way.startsWith('tls') && !TLS) continue;
  results[way] = await Promise.all([alias, `${alias}.`, alias.toUpperCase()].map(reach));
}
console.log(JSON.stringify({ results, looked }));
process.exit();
