// How long a user waits for a command against a running emulator, compared with Node running an empty script.
import { initiateRequest, numbered, openLane, reference, settleRequest } from './load.mjs';
import { BINARY, inFolder, timed, timedNothing, withSim } from './processes.mjs';
import { startReceiver, verifiedForm } from './receiver.mjs';
import { baseline, measured, median, ms } from './rows.mjs';

const ROUNDS = 21;

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
    ratios: (name) => rounds.map((round) => round[name] / round.node),
  };
}

const rowOf =
  (rounds) =>
  (what, name, note = '') =>
    measured(`${what}, relative to node -e 0`, rounds.ratios(name), ms(rounds.of(name)) + note);
const nodeRow = (rounds, section) => baseline(`node -e 0, next to the ${section}`, rounds.all('node'), ' ms');

export function commands() {
  return inFolder((folder) =>
    withSim(folder, async (sim) => {
      const receiver = await startReceiver();
      receiver.use(verifiedForm(sim.secretKey));
      const lane = await openLane(sim.port);
      const request = initiateRequest({ ...sim, ipnUrl: receiver.url });
      const run = (...args) => timed([BINARY, ...args], { cwd: folder });
      const rounds = await besideNode(async (number) => {
        const payments = await run('payments', '--json');
        await lane.ask(numbered(request, 2 * number));
        const asked = performance.now();
        await lane.ask(settleRequest(sim.port, reference(2 * number)));
        const waiting = performance.now() - asked;
        await lane.ask(numbered(request, 2 * number + 1));
        const pay = await run('pay', '--approve');
        return { payments, waiting, pay: pay - waiting };
      });
      lane.close();
      await receiver.close();
      const row = rowOf(rounds);
      return [
        nodeRow(rounds, 'commands'),
        row('payments --json', 'payments'),
        row('pay --approve without its wait', 'pay', ` plus ${ms(rounds.of('waiting'))} of waiting`),
      ];
    }),
  );
}
