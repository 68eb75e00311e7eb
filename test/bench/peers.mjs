// npm run bench:peers: measures gateway-sim and other servers with the same work. It installs them from the registry, so
// it is not part of any test. The exit code is always 0, because timings are not tests. emulate requires Node 24.
import { parseArgs } from 'node:util';
import { watchMachine } from './machine.mjs';
import { fetchPeers, whyNotFetched } from './peer-packages.mjs';
import { serversOf, withServer } from './peer-servers.mjs';
import { inFolder } from './processes.mjs';
import { startReceiver } from './receiver.mjs';
import { FORMS, startReport } from './report.mjs';
import { round } from './round.mjs';
import { fact, median, ms, unmeasured } from './rows.mjs';
import { payMany, WAYS } from './way.mjs';

const ROUNDS = 5;
/** Limits, because some servers get slower with each request. */
const WARM_UP = { count: 5_000, seconds: 3 };
const ROUND = { count: 10_000, seconds: 4 };
const WARM_UP_PAYMENTS = { atOnce: 16, count: 500 };

const { values } = parseArgs({ options: FORMS });
await inFolder(compare);

async function compare(folder) {
  const scripts = await fetchPeers(folder).catch((error) => {
    console.log(`The peers could not be fetched from the npm registry: ${whyNotFetched(error)}.`);
  });
  if (!scripts) return;
  const describe = watchMachine();
  const report = startReport(values);
  const receiver = await startReceiver();
  const players = Object.entries(serversOf(scripts)).map(([name, server]) => ({ name, server, rounds: [] }));
  for (let number = 1; number <= ROUNDS; number++) {
    process.stderr.write(`round ${number} of ${ROUNDS} …\n`);
    for (const player of players.filter(({ problem }) => !problem)) {
      await playRound(player, receiver).catch((error) => {
        player.problem = error.message;
      });
    }
  }
  await receiver.close();
  const rows = players.flatMap(rowsOf);
  for (const row of rows) report.row(row);
  report.end(rows, describe(rows));
}

/** Measures a start, creates on the new server, and the whole way of payments where the server has one. */
async function playRound({ server, rounds }, receiver) {
  await withServer(server, receiver, async (running) => {
    const result = { startMs: running.startMs };
    if (server.way) {
      await payMany(running, server.way, receiver, WARM_UP_PAYMENTS);
      for (const how of WAYS) result[how.name] = await payMany(running, server.way, receiver, how);
    }
    const ask = (limits) => round(running, server.request(running), { ...limits, expected: server.expected });
    await ask(WARM_UP);
    rounds.push({ ...result, ...(await ask(ROUND)) });
  });
}

function rowsOf({ name, server, rounds, problem }) {
  if (problem) return [unmeasured(name, problem)];
  const of = (value) => median(rounds.map((one) => one[value]));
  const ways = server.way ? WAYS : [];
  return [
    fact(`${name}: start to the first created record`, of('startMs'), ' ms'),
    ...ways.map((how) =>
      fact(`${name}: whole way, ${how.name}`, of(how.name), '/s', `${ms(1_000 / of(how.name))} a payment`),
    ),
    fact(
      `${name}: creates`,
      of('rate'),
      '/s',
      `${Math.round(of('processorUs'))} µs of CPU time each; ${server.does}`,
    ),
  ];
}
