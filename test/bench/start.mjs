// How long a user waits for the start, the first response, a command and the library, compared with Node running an
// empty script.
import { fileURLToPath } from 'node:url';
import { initiateRequest, numbered, openLane, reference, settleRequest } from './load.mjs';
import {
  BINARY,
  inFolder,
  processorMs,
  running,
  timed,
  timedNothing,
  withFreshSim,
  withSim,
} from './processes.mjs';
import { startReceiver } from './receiver.mjs';
import { baseline, fact, measured, median, ms } from './rows.mjs';

const ROUNDS = 21;
const LIBRARY = fileURLToPath(new URL('library.mjs', import.meta.url));

/** Measures tasks in several rounds. Each round also measures Node with an empty script. */
async function besideNode(measure) {
  const rounds = [];
  // The first round is discarded: it fills the caches of the system.
  for (let number = 0; number <= ROUNDS; number++) {
    const node = await timedNothing();
    rounds.push({ node, ...(await measure(number)) });
  }
  rounds.shift();
  const all = (name) => rounds.map((round) => round[name]);
  return {
    all,
    of: (name) => median(all(name)),
    ratio: (name) => median(rounds.map((round) => round[name] / round.node)),
  };
}

const rowOf =
  (rounds) =>
  (what, name, note = '') =>
    measured(`${what}, relative to node -e 0`, rounds.ratio(name), ms(rounds.of(name)) + note);
const nodeRow = (rounds, section) => baseline(`node -e 0, next to the ${section}`, rounds.all('node'), ' ms');

export async function start() {
  const rounds = await besideNode(async () => ({
    version: await timed([BINARY, '--version']),
    ...(await withFreshSim(startTimes)),
  }));
  const row = rowOf(rounds);
  return [
    nodeRow(rounds, 'start'),
    row('start to ready', 'ready'),
    row('start to the first answered initiate', 'first', `, ${ms(rounds.of('processor'))} of CPU time`),
    row('--version', 'version'),
  ];
}

async function startTimes(sim) {
  const lane = await openLane(sim.port, '"success":"ok"');
  await lane.ask(initiateRequest(sim));
  const first = performance.now() - sim.startedAt;
  lane.close();
  return { ready: sim.readyMs, first, processor: processorMs(sim) };
}

export function commands() {
  return inFolder((folder) =>
    withSim(folder, async (sim) => {
      const receiver = await startReceiver();
      const lane = await openLane(sim.port);
      const request = initiateRequest({ ...sim, ipnUrl: receiver.url });
      const run = (...args) => timed([BINARY, ...args], { cwd: folder });
      const rounds = await besideNode(async (number) => {
        const payments = await run('payments', '--json');
        const status = await run('status');
        await lane.ask(numbered(request, 2 * number));
        const asked = performance.now();
        await lane.ask(settleRequest(sim.port, reference(2 * number)));
        const waiting = performance.now() - asked;
        await lane.ask(numbered(request, 2 * number + 1));
        const pay = await run('pay', '--approve');
        return { payments, status, waiting, pay: pay - waiting };
      });
      lane.close();
      await receiver.close();
      const row = rowOf(rounds);
      return [
        nodeRow(rounds, 'commands'),
        row('payments --json', 'payments'),
        row('status', 'status'),
        row('pay --approve without its wait', 'pay', ` plus ${ms(rounds.of('waiting'))} of waiting`),
      ];
    }),
  );
}

export async function library() {
  const rounds = await besideNode(() =>
    running([LIBRARY], {}, ({ readyMs, imported, started, again }) => ({
      whole: readyMs,
      imported,
      started,
      again,
    })),
  );
  const parts = `import ${ms(rounds.of('imported'))}, call ${ms(rounds.of('started'))}`;
  return [
    nodeRow(rounds, 'library'),
    fact('startGatewaySim() in a new process, relative to node -e 0', rounds.ratio('whole'), 'x', parts),
    fact('startGatewaySim() again in the same process', rounds.of('again'), ' ms'),
  ];
}
