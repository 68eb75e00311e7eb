// The baseline for IPNs: a keep-alive client that posts the same bytes to the same receiver over 16 connections.
import { Agent, request } from 'node:http';

const [, , url, body, countText] = process.argv;
const count = Number(countText);
const agent = new Agent({ keepAlive: true, maxSockets: 16 });
const headers = {
  'content-type': 'application/x-www-form-urlencoded',
  'content-length': Buffer.byteLength(body),
};

let sent = 0;
function next() {
  if (sent++ >= count) return;
  const outgoing = request(url, { method: 'POST', agent, headers }, (response) => {
    response.resume();
    response.on('end', next);
  });
  outgoing.end(body);
}
for (let lane = 0; lane < 16; lane++) next();
