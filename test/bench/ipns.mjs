// How fast due IPNs arrive, compared with a bare client that posts the same bytes to the same receiver.
import { fileURLToPath } from 'node:url';
import { initiateRequest, numbered, openLane, reference, settleRequest } from './load.mjs';
import { inFolder, timed, withFreshSim, withSim } from './processes.mjs';
import { startReceiver } from './receiver.mjs';
import { baseline, measured, median, ms, perSecond, quantile } from './rows.mjs';
import { makeState } from './state.mjs';

const ROUNDS = 5;
const COUNT = 10_000;
const IDLE_COUNT = 1_000;
const IDLE_WARM_UP = 200;
const POSTER = fileURLToPath(new URL('poster.mjs', import.meta.url));

export async function ipns() {
  const rounds = [];
  for (let number = 0; number < ROUNDS; number++) rounds.push(await courierRound());
  const all = (name) => rounds.map((round) => round[name]);
  const latencies = await idleLatencies();
  const [p50, p99] = [0.5, 0.99].map((share) => quantile(latencies, share));
  return [
    baseline('IPNs of a bare keep-alive client', all('bare'), '/s'),
    measured(
      'rate of due IPNs, relative to a bare client',
      median(rounds.map(({ ours, bare }) => ours / bare)),
      perSecond(median(all('ours'))),
    ),
    measured('settle to arrival when idle, p50', p50),
    measured('settle to arrival when idle, p99', p99, `the longest ${ms(Math.max(...latencies))}`),
  ];
}

/** All IPNs of the state are due at the same time, so that only sending and recording are measured. */
async function courierRound() {
  const receiver = await startReceiver();
  await inFolder(async (folder) => {
    await makeState(folder, COUNT, { settledTo: await closedUrl() });
    const options = ['--ipn-schedule', '1s', '--ipn-retries', '100', '--forward-ipn', receiver.url];
    await withSim(folder, () => receiver.reached(COUNT), { options });
  });
  const ours = rateOf(receiver.arrivals);
  receiver.arrivals.length = 0;
  await timed([POSTER, receiver.url, receiver.lastBody(), String(COUNT)]);
  const bare = rateOf(receiver.arrivals);
  await receiver.close();
  return { ours, bare };
}

/** Arrivals per second, from the first to the last. */
const rateOf = (arrivals) => ((arrivals.length - 1) / (arrivals.at(-1) - arrivals[0])) * 1_000;

/** A URL at which no server listens. */
async function closedUrl() {
  const receiver = await startReceiver();
  await receiver.close();
  return receiver.url;
}

/** Settles one payment after another. @returns the ms from each settle request to the arrival of its IPN */
async function idleLatencies() {
  const receiver = await startReceiver();
  const latencies = await withFreshSim(async (sim) => {
    const lane = await openLane(sim.port);
    const request = initiateRequest({ ...sim, ipnUrl: receiver.url });
    const all = [];
    for (let number = 0; number < IDLE_COUNT; number++) {
      await lane.ask(numbered(request, number));
      const settle = settleRequest(sim.port, reference(number));
      const asked = performance.now();
      await lane.ask(settle);
      all.push(receiver.arrivals.at(-1) - asked);
    }
    lane.close();
    return all;
  });
  await receiver.close();
  return latencies.slice(IDLE_WARM_UP);
}
