// How long the dashboard takes to show the payments of a large store.
import { initiateRequest, numbered, openLane } from './load.mjs';
import { withFreshSim } from './processes.mjs';
import { startReceiver } from './receiver.mjs';
import { measured, ms, quantile } from './rows.mjs';
import { OURS, payMany } from './way.mjs';

const MANY = 10_000;
const ROUNDS = 41;
/** The first page, and a page that has to look at every IPN and every text. */
const PAGES = {
  'the list of 10,000 paid payments': '/_sim',
  'a search in the list of 10,000 paid payments': '/_sim?status=succeeded&text=lovelace',
};

export function lists() {
  return withFreshSim(async (sim) => {
    const receiver = await startReceiver();
    await payMany(sim, OURS, receiver, { atOnce: 16, count: MANY });
    const lane = await openLane(sim.port);
    const rows = [];
    for (const [what, path] of Object.entries(PAGES)) {
      const times = [];
      for (let round = 0; round < ROUNDS; round++) {
        // What the last page computed must not help this one more than it helps a user.
        await lane.ask(numbered(initiateRequest(sim), MANY + rows.length * ROUNDS + round));
        const asked = performance.now();
        const page = await (await fetch(sim.url + path)).text();
        times.push(performance.now() - asked);
        if (!page.includes(' of 10,')) throw new Error(`${path} does not show ${MANY} payments`);
      }
      rows.push(
        measured(what, times, { atMost: 50, unit: ' ms' }, `slowest of ten ${ms(quantile(times, 0.9))}`),
      );
    }
    lane.close();
    await receiver.close();
    return rows;
  });
}
