// The baseline of a payment's whole way: a node:http server that takes an initiate, takes an approval, and posts a signed
// IPN before it answers the approval. It keeps payments in memory and checks nothing.
import { createHmac } from 'node:crypto';
import { createServer, request } from 'node:http';

const SECRET_KEY = 'sec_bare';
const payments = new Map();

function initiate(body) {
  const { identifier, amount, ipn_url } = Object.fromEntries(new URLSearchParams(body));
  payments.set(identifier, { amount, ipnUrl: ipn_url });
  const url = `http://127.0.0.1/checkout?payment_id=${identifier}`;
  return { success: 'ok', message: 'Payment Initiated. Redirect to url.', url };
}

async function approve(identifier) {
  const { amount, ipnUrl } = payments.get(identifier);
  const signature = createHmac('sha256', SECRET_KEY)
    .update(amount + identifier)
    .digest('hex')
    .toUpperCase();
  const form = {
    status: 'success',
    identifier,
    signature,
    'data[amount]': amount,
    'data[currency][code]': 'USD',
  };
  await post(ipnUrl, new URLSearchParams(form).toString());
  return { payment: { identifier, status: 'succeeded' } };
}

function post(url, body) {
  const headers = {
    'content-type': 'application/x-www-form-urlencoded',
    'content-length': Buffer.byteLength(body),
  };
  return new Promise((resolve, reject) => {
    // A connection for each IPN, as the service's curl opens one.
    const outgoing = request(url, { method: 'POST', agent: false, headers }, (response) => {
      response.resume();
      response.on('end', resolve);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const server = createServer((incoming, outgoing) => {
  const chunks = [];
  incoming.on('data', (chunk) => chunks.push(chunk));
  incoming.on('end', async () => {
    const [, identifier] = /payments\/([^/]+)\/settle$/.exec(incoming.url) ?? [];
    const answer = identifier ? await approve(identifier) : initiate(Buffer.concat(chunks).toString());
    const body = JSON.stringify(answer);
    outgoing.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    });
    outgoing.end(body);
  });
});
const [, , port = '0'] = process.argv;
server.listen(Number(port), '127.0.0.1', () =>
  console.log(JSON.stringify({ port: server.address().port, secretKey: SECRET_KEY })),
);
