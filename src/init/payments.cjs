// Initiates payments and verifies their IPNs, without dependencies. Ship this file with your shop.
// An order has `identifier`, `token`, `amount` and `currency`, as text.
const { createHmac, randomBytes, timingSafeEqual } = require('node:crypto');

/** An order, to be stored before its payment is initiated. Forged IPNs cannot guess the token. */
exports.newOrder = (amount, currency) => {
  const [identifier, token] = [10, 16].map((bytes) => randomBytes(bytes).toString('hex'));
  return { identifier, token, amount, currency };
};

/** Initiates the payment of an order. Returns the URL where the customer pays. `shop` is your own address. */
exports.initiate = async ({ identifier, token, amount, currency }, shop, fields) => {
  const body = new URLSearchParams({
    public_key: variable('GATEWAY_SIM_PUBLIC_KEY'),
    identifier,
    amount,
    currency,
    ipn_url: `${shop}/ipn?token=${token}`,
    success_url: `${shop}/orders/${identifier}`,
    cancel_url: shop,
    site_logo: `${shop}/logo.png`,
    ...fields,
  });
  const response = await fetch(variable('GATEWAY_SIM_INITIATE_URL'), { method: 'POST', body });
  const { url, message } = await response.json();
  if (!url) throw new Error(`the payment was not initiated: ${message}`);
  return url;
};

/** Whether an IPN with these fields, at an `ipn_url` with this token, pays the order. `order` may be undefined. */
exports.isPaid = (order, fields, token) =>
  order !== undefined &&
  isGenuine(fields, variable('GATEWAY_SIM_SECRET_KEY')) &&
  fields.get('identifier') === order.identifier &&
  isSame(token, order.token) &&
  Number(fields.get('data[amount]')) === Number(order.amount) &&
  fields.get('data[currency][code]') === order.currency;

/** Whether the gateway signed the IPN of a successful payment. It may belong to another order, or to none. */
function isGenuine(fields, secretKey) {
  const signed = `${fields.get('data[amount]')}${fields.get('identifier')}`;
  const expected = createHmac('sha256', secretKey).update(signed).digest('hex').toUpperCase();
  return isSame(fields.get('signature'), expected) && fields.get('status') === 'success';
}

/** Compares in constant time. */
function isSame(given, expected) {
  const [one, other] = [given ?? '', expected].map((text) => Buffer.from(`${text}`));
  return one.length === other.length && timingSafeEqual(one, other);
}

function variable(name) {
  const { [name]: value } = process.env;
  if (value) return value;
  throw new Error(`${name} is not set: run your program with "npx gateway-sim exec -- <command>", or set it`);
}

const MAX_BYTES = 65_536;

/** A handler for the first test. Replace it with your own: a function that a node:http server or Express calls. */
exports.createHandler = (secretKey) => async (request, response) => {
  try {
    const chunks = [];
    let size = 0;
    for await (const chunk of request) {
      size += chunk.length;
      if (size > MAX_BYTES) return response.writeHead(413, { connection: 'close' }).end();
      chunks.push(chunk);
    }
    const isValid = isGenuine(new URLSearchParams(Buffer.concat(chunks).toString()), secretKey);
    response.writeHead(isValid ? 200 : 400).end(isValid ? 'OK' : 'refused');
  } catch {
    // The sender has disconnected.
    response.destroy();
  }
};
