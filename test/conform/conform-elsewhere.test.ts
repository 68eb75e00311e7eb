import { expect, it } from 'vitest';
import { held, linesNamed } from '../helpers/conform.ts';
import { freePort } from '../helpers/port.ts';
import { startSim } from '../helpers/sim.ts';

/** An address of this machine that is not loopback, so that it counts as a foreign server. */
async function startElsewhere() {
  const port = await freePort();
  const url = `http://0.0.0.0:${port}`;
  return { ...(await startSim({ port, publicUrl: url })), url };
}

it('a remote target is tested neither in live mode nor with lines that need an emulator or a callback', async () => {
  const sim = await startElsewhere();
  const lines = linesNamed(
    ...['initiate-sandbox', 'initiate-live', 'card-create', 'checkout-page-live', 'ipn-status', 'route-root'],
    ...['checkout-page', 'checkout-success-url-exact', 'ipn-not-on-cancel', 'initiate-json'],
  );
  const began = performance.now();
  const { report } = await held(sim, {}, { lines });
  expect(report.differ).toEqual([]);
  // Pays on the checkout like a customer, without the control API.
  expect(report.agree).toBe(4);
  expect(Object.fromEntries(report.unseen.map(({ id, why }) => [id, why]))).toEqual({
    'initiate-live': 'live mode is not tested: use --live --live to test it',
    'card-create': 'live mode is not tested: use --live --live to test it',
    'checkout-page-live': 'live mode is not tested: use --live --live to test it',
    'ipn-status': 'no IPN can reach this machine: specify its public address with --ipn-url',
    'ipn-not-on-cancel': 'needs the control API of an emulator',
    'route-root': 'applies only to an emulator',
  });
  const asked = sim.server.parts.events.requests();
  expect(asked.length).toBeGreaterThan(8);
  expect(asked.filter(({ target }) => !target.startsWith('/sandbox/'))).toEqual([]);
  // At most five per second; timers may fire a little early.
  expect(performance.now() - began).toBeGreaterThan((asked.length - 1) * 200 * 0.95);
});

it('a remote target is tested in live mode only on request', async () => {
  const lines = linesNamed('initiate-live', 'card-create');
  const { report } = await held(await startElsewhere(), {}, { lines, live: true });
  expect(report).toMatchObject({ agree: 2, differ: [], unseen: [] });
});

it('a remote target sends its IPNs to a public address of this machine', async () => {
  const ipnPort = await freePort();
  const ipnUrl = `http://localhost:${ipnPort}/tunnel?shop=7`;
  const lines = linesNamed('ipn-status', 'signature');
  const { report } = await held(await startElsewhere(), {}, { lines, ipnUrl, ipnPort });
  expect(report).toMatchObject({ agree: 2, differ: [], unseen: [] });
});

it('a broken tunnel is not reported as a difference of a remote target', async () => {
  const [ipnPort, other] = [await freePort(), await freePort()];
  const more = { lines: linesNamed('ipn-status'), ipnUrl: `http://localhost:${other}/tunnel`, ipnPort };
  const { report } = await held(await startElsewhere(), {}, more);
  expect(report).toMatchObject({
    ...{ agree: 0, differ: [] },
    unseen: [
      { id: 'ipn-status', why: expect.stringMatching(/does not forward to --ipn-port.*connection refused/) },
    ],
  });
});
