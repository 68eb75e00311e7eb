import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';

const PATIENCE_MS = 30_000;

/** Whether a form is a correctly signed IPN. @returns the identifier; undefined if it is not */
export function verifiedForm(secretKey) {
  return (body) => {
    const fields = new URLSearchParams(body);
    const [amount, identifier] = [fields.get('data[amount]'), fields.get('identifier')];
    const expected = createHmac('sha256', secretKey)
      .update(amount + identifier)
      .digest('hex')
      .toUpperCase();
    return fields.get('signature') === expected && fields.get('status') === 'success'
      ? identifier
      : undefined;
  };
}

/**
 * Starts a receiver in this process that verifies what it gets.
 *
 * @returns `use(verify)`: sets how a body is verified: it returns the name of what was paid; `paid(name)`: resolves when
 *   that arrives
 */
export async function startReceiver() {
  const waiting = new Map();
  let verify = () => undefined;
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const name = verify(Buffer.concat(chunks).toString());
      response.writeHead(name === undefined ? 400 : 200).end('OK');
      waiting.get(name)?.();
      waiting.delete(name);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/ipn`,
    use(next) {
      verify = next;
    },
    paid: (name) =>
      new Promise((resolve, reject) => {
        const limit = setTimeout(() => reject(new Error(`no IPN about ${name} arrived`)), PATIENCE_MS);
        waiting.set(name, () => {
          clearTimeout(limit);
          resolve();
        });
      }),
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}
