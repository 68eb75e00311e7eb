// Replace this with your own IPN handler: a function that a node:http server or Express calls.
const { createHmac, timingSafeEqual } = require('node:crypto');

const MAX_BYTES = 65_536;

function isGenuine(fields, secretKey) {
  const signed = `${fields.get('data[amount]')}${fields.get('identifier')}`;
  const expected = createHmac('sha256', secretKey).update(signed).digest('hex').toUpperCase();
  const [given, wanted] = [fields.get('signature') ?? '', expected].map((text) => Buffer.from(text));
  const isSigned = given.length === wanted.length && timingSafeEqual(given, wanted);
  return isSigned && fields.get('status') === 'success';
}

exports.createHandler = (secretKey) => async (request, response) => {
  try {
    const chunks = [];
    let size = 0;
    for await (const chunk of request) {
      size += chunk.length;
      if (size > MAX_BYTES) return response.writeHead(413, { connection: 'close' }).end();
      chunks.push(chunk);
    }
    const isPaid = isGenuine(new URLSearchParams(Buffer.concat(chunks).toString()), secretKey);
    response.writeHead(isPaid ? 200 : 400).end(isPaid ? 'OK' : 'refused');
  } catch {
    // The sender has disconnected.
    response.destroy();
  }
};
