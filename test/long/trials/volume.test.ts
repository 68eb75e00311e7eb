import { ORDER } from '../../helpers/sim.ts';
import { startEmulator } from '../emulator.ts';
import { formRequest, Pipeline, requestBytes } from '../pipeline.ts';
import { trial } from '../trial.ts';

const CONNECTIONS = 8;
const PER_PIPELINE = 64;
/** One in this many requests is rejected, and one reads. */
const ONE_IN = 8;

trial(
  'a million requests from shops, some of them invalid',
  { short: 2_000, least: 1_000_000, share: 8 },
  async (budget) => {
    const sim = await startEmulator(['--quiet']);
    const key = `Authorization: Bearer ${sim.secretKey}`;
    const read = requestBytes('GET', '/api/cards', ['Host: 127.0.0.1', key]);
    const pipelines = Array.from({ length: CONNECTIONS }, () => new Pipeline(sim.port));
    let made = 0;
    let number = 0;
    const next = (): [bytes: Buffer, expected: string] => {
      number++;
      if (number % ONE_IN === 0) return [read, '"current_page"'];
      const isWrong = number % ONE_IN === 1;
      const fields = {
        ...ORDER,
        public_key: isWrong ? 'nobody' : sim.publicKey,
        identifier: `order-${number}`,
      };
      return [formRequest('/payment/initiate', fields), isWrong ? '"error":"true"' : '"success":"ok"'];
    };
    const exchange = async (pipeline: Pipeline) => {
      const requests = Array.from({ length: PER_PIPELINE }, next);
      const answers = await pipeline.exchange(
        budget,
        requests.map(([bytes]) => bytes),
      );
      for (const [index, { status, body }] of answers.entries()) {
        const [, expected = ''] = requests[index] ?? [];
        const text = body.toString();
        if (status >= 500) budget.fail('5xx', `${status}: ${text.slice(0, 200)}`);
        else if (!text.includes(expected))
          budget.fail('other', `${expected} expected: ${text.slice(0, 200)}`);
        if (expected.includes('success')) made++;
      }
    };
    while (budget.more()) {
      await Promise.all(pipelines.map(exchange));
      if (sim.running.child.exitCode !== null) break;
    }
    for (const pipeline of pipelines) pipeline.close();
    await sim.check(budget, `${number} requests`);
    const { counts } = await sim.control<{ counts: { payments: { pending: number } } }>('/status');
    const { pending } = counts.payments;
    if (pending !== made) budget.fail('lost', `${made} answered, ${pending} there`);
  },
);
