// npm run bench:peers: measures gateway-sim and other servers with the same work. It installs them from the registry, so
// it is not part of any test. The exit code is always 0, because timings are not tests.
import { chosen } from './arguments.mjs';
import { watchMachine } from './machine.mjs';
import { fetchPeers, whyNotFetched } from './peer-packages.mjs';
import { serversOf, withServer } from './peer-servers.mjs';
import { inFolder, timedNothing, together } from './processes.mjs';
import { startReport } from './report.mjs';
import { round } from './round.mjs';
import { baseline, fact, median, ms, unmeasured } from './rows.mjs';

const ROUNDS = 5;
const STOCK = 100_000;
/** Limits, because some servers get slower with each request. */
const FILL = { count: STOCK, seconds: 60 };
const WARM_UP = { count: 10_000, seconds: 3 };
const ROUND = { count: 10_000, seconds: 4 };

const choice = chosen([], []);
if (choice.problem) console.error(choice.problem);
else await inFolder(compare);

async function compare(folder) {
  const scripts = await fetchPeers(folder).catch((error) => {
    console.log(`The peers could not be fetched from the npm registry: ${whyNotFetched(error)}.`);
  });
  if (!scripts) return;
  const describe = watchMachine();
  const report = startReport(choice);
  const rows = await rowsOf(serversOf(scripts));
  for (const row of rows) report.row(row);
  report.end(rows, describe(rows));
}

async function rowsOf(servers) {
  const players = Object.entries(servers).map(([name, server]) => ({ name, server, rounds: [] }));
  const nothing = [];
  await together(
    players.map((player) => (use) => withFull(player, use)),
    async () => {
      for (let number = 1; number <= ROUNDS; number++) {
        process.stderr.write(`round ${number} of ${ROUNDS} …\n`);
        nothing.push(await timedNothing());
        for (const player of players.filter(({ problem }) => !problem)) {
          await playerRound(player).catch((error) => {
            player.problem = error.message;
          });
        }
      }
    },
  );
  const baselines = { node: median(nothing), bare: median(players[0].rounds.map(({ rate }) => rate)) };
  return [baseline('node -e 0', nothing, ' ms'), ...players.flatMap((one) => playerRows(one, baselines))];
}

/** Keeps a full server running while `use` runs. If it cannot be filled, its player gets the problem. */
async function withFull(player, use) {
  const { name, server } = player;
  if (server.keepsNothing) return use();
  process.stderr.write(`storing ${STOCK} in ${name} …\n`);
  let isFull = false;
  const fill = async (full) => {
    const filled = server.fill ? STOCK : (await ask(server, full, FILL)).answered;
    await ask(server, full, WARM_UP);
    isFull = true;
    player.full = { ...full, filled };
    return use();
  };
  try {
    return await withServer(server, fill, STOCK);
  } catch (error) {
    if (isFull) throw error;
    player.problem = error.message;
    return use();
  }
}

function ask(server, { port, child }, limits) {
  return round({ port, child }, server.request(port), { ...limits, expected: server.expected });
}

/** Measures a start, a round of creates on the new server, and a round on the full server. */
async function playerRound({ server, full, rounds }) {
  const warm = async (one) => {
    await ask(server, one, WARM_UP);
    return ask(server, one, ROUND);
  };
  const fresh = await withServer(server, async (one) => ({ startMs: one.startMs, ...(await warm(one)) }));
  // Node discards compiled code while the other servers are measured.
  rounds.push({ ...fresh, full: full && (await warm(full)) });
}

function playerRows({ name, server, rounds, full, problem }, { node, bare }) {
  if (problem) return [unmeasured(name, problem)];
  const of = (value) => median(rounds.map((one) => one[value]));
  const micros = (value) => `${Math.round(value)} µs of CPU time each`;
  const share = `${(of('rate') / bare).toFixed(2)} × bare, ${micros(of('processorUs'))}, p99 ${ms(of('p99'))}`;
  const rows = [
    fact(
      `${name}: start, relative to node -e 0`,
      of('startMs') / node,
      'x',
      `${ms(of('startMs'))} to the first record`,
    ),
    fact(`${name}: creates`, of('rate'), '/s', `${share}; ${server.does}`),
  ];
  if (!full) return rows;
  const ofFull = (value) => median(rounds.map((one) => one.full[value]));
  const ratio = median(rounds.map((one) => one.full.rate / one.rate));
  const note = `${ratio.toFixed(2)} times an empty store, ${micros(ofFull('processorUs'))}, p99 ${ms(ofFull('p99'))}`;
  return [
    ...rows,
    fact(`${name}: with ${full.filled.toLocaleString('en')} stored`, ofFull('rate'), '/s', note),
  ];
}
