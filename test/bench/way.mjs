// A payment's whole way: initiate, approve by the control API, a signed IPN at a receiver that verifies it.
import { fileURLToPath } from 'node:url';
import { initiateRequest, numbered, openLane, reference, settleRequest } from './load.mjs';
import { running, together, withFreshSim } from './processes.mjs';
import { startReceiver, verifiedForm } from './receiver.mjs';
import { emptied } from './round.mjs';
import { baseline, measured, median, ms, perSecond } from './rows.mjs';

const BARE = fileURLToPath(new URL('bare-gateway.mjs', import.meta.url));
const ROUNDS = 7;
const WARM_UP = 1_500;
/** How many payments at a time, and how many in a round. */
export const WAYS = [
  { atOnce: 1, count: 500, name: 'one after another' },
  { atOnce: 16, count: 3_000, name: '16 at a time' },
];

/** The number of the next payment of this process. */
let next = 0;

/** How a payment is made and approved at a server with our routes. */
export const OURS = {
  create: (server, number, ipnUrl) => numbered(initiateRequest({ ...server, ipnUrl }), number),
  approve: ({ port }, number) => ({
    request: settleRequest(port, reference(number)),
    name: reference(number),
  }),
  verify: ({ secretKey }) => verifiedForm(secretKey),
};

/**
 * Pays a number of payments.
 *
 * @returns payments per second
 */
export async function payMany(server, kind, receiver, { atOnce, count }) {
  receiver.use(kind.verify(server));
  const last = next + count;
  const work = async () => {
    const lane = await openLane(server.port);
    while (next < last) {
      const number = next++;
      const created = await lane.ask(kind.create(server, number, receiver.url));
      const { request, name } = kind.approve(server, number, created);
      const paid = receiver.paid(name);
      await lane.ask(request);
      await paid;
    }
    lane.close();
  };
  const started = performance.now();
  await Promise.all(Array.from({ length: atOnce }, work));
  return count / ((performance.now() - started) / 1_000);
}

export function way() {
  return together([(use) => running([BARE], {}, use), withFreshSim], async ([bare, sim]) => {
    const receiver = await startReceiver();
    const rows = [];
    for (const server of [bare, sim]) await payMany(server, OURS, receiver, { atOnce: 16, count: WARM_UP });
    for (const how of WAYS) {
      const rounds = [];
      for (let number = 0; number < ROUNDS; number++) {
        await emptied(sim);
        const ours = await payMany(sim, OURS, receiver, how);
        rounds.push({ ours, bare: await payMany(bare, OURS, receiver, how) });
      }
      const ours = median(rounds.map((round) => round.ours));
      rows.push(
        baseline(
          `a bare server, ${how.name}`,
          rounds.map((round) => round.bare),
          '/s',
        ),
        measured(
          `a payment's whole way, ${how.name}, relative to a bare server`,
          rounds.map((round) => round.ours / round.bare),
          { atLeast: 0.4 },
          `${perSecond(ours)}${how.atOnce === 1 ? `, ${ms(1_000 / ours)} each` : ''}`,
        ),
      );
    }
    await receiver.close();
    return rows;
  });
}
