// The baseline: a node:http server that reads a form and sends a response as long as that of initiate.
import { createServer } from 'node:http';

const answer = JSON.stringify({
  success: 'ok',
  message: 'Payment Initiated. Redirect to url.',
  url: 'http://127.0.0.1:4477/sandbox/initiate/payment/checkout?payment_id=pay_0123456789abcdefghijklmn',
});

const server = createServer((request, response) => {
  const chunks = [];
  request.on('data', (chunk) => chunks.push(chunk));
  request.on('end', () => {
    Buffer.concat(chunks).toString();
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length });
    response.end(answer);
  });
});
const [, , port = '0'] = process.argv;
server.listen(Number(port), '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
