import { createServer } from 'node:http';

const PATIENCE_MS = 60_000;

/** Starts a receiver in this process. It answers immediately and records when each IPN arrives. */
export async function startReceiver() {
  const arrivals = [];
  let body = '';
  let onArrival = () => {};
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      arrivals.push(performance.now());
      body = Buffer.concat(chunks).toString();
      response.end('OK');
      onArrival();
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/ipn`,
    arrivals,
    lastBody: () => body,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
    reached: (count) =>
      new Promise((resolve, reject) => {
        const give = () => reject(new Error(`${arrivals.length} of ${count} IPNs arrived within a minute`));
        const limit = setTimeout(give, PATIENCE_MS);
        onArrival = () => {
          if (arrivals.length < count) return;
          clearTimeout(limit);
          resolve();
        };
        onArrival();
      }),
  };
}
