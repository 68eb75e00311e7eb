// How long a user waits for a command against a running emulator, compared with Node running an empty script.
import { initiateRequest, numbered, openLane, reference, settleRequest } from './load.mjs';
import { BINARY, inFolder, timed, withSim } from './processes.mjs';
import { startReceiver, verifiedForm } from './receiver.mjs';
import { baseline, measured, median, ms } from './rows.mjs';

const ROUNDS = 21;
const TARGET = { atMost: 2.4, unit: 'x' };

export function commands() {
  return inFolder((folder) =>
    withSim(folder, async (sim) => {
      const receiver = await startReceiver();
      receiver.use(verifiedForm(sim.secretKey));
      const lane = await openLane(sim.port);
      const request = initiateRequest({ ...sim, ipnUrl: receiver.url });
      const run = (...args) => timed([BINARY, ...args], { cwd: folder });
      const rounds = [];
      for (let number = 0; number <= ROUNDS; number++) {
        const node = await timed(['-e', '0']);
        const payments = await run('payments', '--json');
        await lane.ask(numbered(request, 2 * number));
        const asked = performance.now();
        await lane.ask(settleRequest(sim.port, reference(2 * number)));
        const waiting = performance.now() - asked;
        await lane.ask(numbered(request, 2 * number + 1));
        const pay = await run('pay', '--approve');
        rounds.push({ node, payments, waiting, pay: pay - waiting });
      }
      lane.close();
      await receiver.close();
      // The first round is discarded: it fills the caches of the system.
      rounds.shift();
      const all = (name) => rounds.map((round) => round[name]);
      const ratios = (name) => rounds.map((round) => round[name] / round.node);
      const waiting = ` plus ${ms(median(all('waiting')))} of waiting`;
      return [
        baseline('node -e 0, next to the commands', all('node'), ' ms'),
        measured(
          'payments --json, relative to node -e 0',
          ratios('payments'),
          TARGET,
          ms(median(all('payments'))),
        ),
        measured(
          'pay --approve without its wait, relative to node -e 0',
          ratios('pay'),
          TARGET,
          ms(median(all('pay'))) + waiting,
        ),
      ];
    }),
  );
}
