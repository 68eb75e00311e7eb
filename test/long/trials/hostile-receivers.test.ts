import { startReceiver } from '../../helpers/receiver.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { ENDING, HANGING, startHostileReceiver } from '../hostile-receiver.ts';
import { type Budget, trial } from '../trial.ts';

/** The maximum number of concurrent attempts, so that at most this many time out at the same time. */
const IN_ALL = 256;
/** An idle emulator stays below 150 MiB; each hanging attempt costs a connection. */
const MOST_MEMORY_MIB = 350;
/** Sending an IPN takes at most its timeout plus 3 s. Anything longer counts as a hang, even on a slow machine. */
const LONGEST_MS = 60_000;

interface Fired {
  id: string;
  state: string;
  attempts: { error: string | null; responseStatus: number | null }[];
}

/** Sends an IPN and waits for the end of its only attempt. */
async function fire(budget: Budget, sim: Emulator, to: string, what: string): Promise<Fired | undefined> {
  const signal = AbortSignal.timeout(LONGEST_MS);
  budget.requests();
  try {
    const response = await fetch(`${sim.url}/_sim/ipns`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ to, amount: '1.00' }),
      signal,
    });
    const answer = (await response.json()) as Fired;
    if (response.status >= 500)
      budget.fail('5xx', `${response.status} after ${what}: ${JSON.stringify(answer)}`);
    return answer;
  } catch (error) {
    budget.fail('hang', `after ${what}: ${error}`);
    return undefined;
  }
}

/** Waits until no IPN is pending: some wait for others to fail. @returns false if that takes too long */
async function isDone(sim: Emulator): Promise<boolean> {
  const until = performance.now() + LONGEST_MS;
  while (performance.now() < until) {
    const { data } = await sim.control<{ data: unknown[] }>('/ipns?state=pending&limit=1');
    if (!data.length) return true;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  return false;
}

trial('hostile receivers next to a healthy one', { short: 38, least: 2_000, share: 3 }, async (budget) => {
  const sim = await startEmulator(['--quiet', '--ipn-timeout', '2s']);
  const healthy = await startReceiver([{ body: 'OK' }]);
  const start = async ([what, behave]: [string, (typeof ENDING)[string]]) => ({
    what,
    receiver: await startHostileReceiver(behave),
  });
  const hanging = await Promise.all(Object.entries(HANGING).map(start));
  const ending = await Promise.all(Object.entries(ENDING).map(start));
  const all = [...hanging, ...ending];
  const timedOut = () => hanging.reduce((sum, { receiver }) => sum + receiver.closed(), 0);
  const each = budget.short ? 1 : 12;
  let most = 0;
  let [sent, late] = [0, 0];

  while (budget.more()) {
    const fired = all.flatMap(({ what, receiver }) =>
      Array.from({ length: each }, async (_, number) => {
        // TLS to a port without TLS also gets no valid response.
        const to = number % 8 === 7 ? receiver.url.replace('http:', 'https:') : receiver.url;
        await fire(budget, sim, to, what);
        budget.cases();
      }),
    );
    const before = timedOut();
    const well = await fire(budget, sim, `${healthy.url}/ipn`, 'a healthy receiver');
    sent++;
    const waited = timedOut() - before;
    if (well?.state !== 'delivered') {
      // The receiver shares its CPU with all others, so it may need a second attempt.
      const again = await sim.control<Fired>(`/ipns/${well?.id}/resend`, {});
      late++;
      if (again.state !== 'delivered') budget.fail('lost', `a healthy receiver: ${JSON.stringify(again)}`);
    }
    if (waited > IN_ALL)
      budget.fail('hang', `${waited} attempts timed out before the healthy one was answered`);
    most = Math.max(most, await sim.memory());
    await Promise.all(fired);
    if (!(await isDone(sim))) budget.fail('hang', 'some IPNs stay pending');
    for (const { what, receiver } of ending) {
      const attempts = sent * each;
      if (what.includes('redirect') && receiver.requests() > attempts)
        budget.fail('outside', `${what} was followed`);
    }
    await sim.check(budget, 'hostile receivers');
  }
  most = Math.max(most, await sim.memory());
  budget.note(
    `at most ${most.toFixed(0)} MiB; ${late} of ${sent} IPNs to the healthy one needed a second attempt`,
  );
  if (most > MOST_MEMORY_MIB) budget.fail('other', `${most.toFixed(0)} MiB`);
});
