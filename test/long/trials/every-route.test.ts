import { Agent } from 'node:http';
import { Contract, type Document } from '../../helpers/contract.ts';
import { type Answer, send } from '../client.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { type FuzzedRequest, type Known, RequestMaker } from '../fuzzed-requests.ts';
import { type Budget, trial } from '../trial.ts';

const CONNECTIONS = 8;
const PER_ROUND = 16;
/** The maximum memory at any time, after any number of hostile requests. */
const MOST_MEMORY_MIB = 250;
/** The initial state is restored after this many rounds. */
const ROUNDS_PER_STATE = 16;

/** Reads the current keys and ids of the emulator. */
async function knownTo({ control, publicKey, secretKey }: Emulator): Promise<Known> {
  const records = async (path: string) =>
    (await control<{ data: { id: string; publicKey?: string; secretKey?: string }[] }>(path)).data;
  const idsOf = async (path: string) => (await records(path)).map(({ id }) => id);
  const [merchant] = await records('/merchants');
  return {
    publicKey: merchant?.publicKey ?? publicKey,
    secretKey: merchant?.secretKey ?? secretKey,
    ids: {
      payments: await idsOf('/payments?limit=50'),
      ipns: await idsOf('/ipns?limit=50'),
      cards: await idsOf('/cards?limit=50'),
      merchants: await idsOf('/merchants'),
      wallets: await idsOf('/wallets'),
    },
  };
}

function judge(
  budget: Budget,
  contract: Contract,
  { operation, target, body: sent }: FuzzedRequest,
  answer: Answer,
): void {
  const { status, headers, body } = answer;
  const asked = () => `${operation}: ${target} ${JSON.stringify(sent.toString('latin1').slice(0, 700))}`;
  if (status >= 500 && !contract.isNamed(operation, status)) {
    budget.fail('5xx', `${status} ${body.toString().slice(0, 200)} to ${asked()}`);
    return;
  }
  if (headers['x-gateway-sim'] !== '1') budget.fail('other', `no X-Gateway-Sim: ${asked()}`);
  try {
    const type = headers['content-type'] ?? '';
    const [problem] = contract.answerProblems(operation, status, type, body.toString());
    if (problem) budget.fail('other', `${status}: ${problem} to ${asked()}`);
  } catch (error) {
    budget.fail('other', `${status}, ${error} to ${asked()}`);
  }
}

trial(
  'every route of the OpenAPI document, with values of every kind',
  { short: 500, least: 30_000, share: 17 },
  async (budget) => {
    const sim = await startEmulator(['--quiet']);
    const document = (await sim.control('/openapi.json')) as Document;
    const contract = new Contract(document);
    const maker = new RequestMaker(document, budget.below);
    const agent = new Agent({ keepAlive: true });
    const snapshot = await sim.control<object>('/snapshot');

    const exchange = async () => {
      for (let count = 0; count < PER_ROUND; count++) {
        const request = maker.next();
        const answer = await send(budget, agent, sim.port, request);
        if (answer) judge(budget, contract, request, answer);
      }
    };

    let memory = 0;
    for (let round = 0; budget.more(); round++) {
      if (round % ROUNDS_PER_STATE === 0) await sim.control('/snapshot', snapshot, 'PUT');
      if (round % 2 === 0) maker.known = await knownTo(sim);
      await Promise.all(Array.from({ length: CONNECTIONS }, exchange));
      memory = Math.max(memory, await sim.memory());
      await sim.check(budget, `round ${round}`);
      if (budget.short && sim.running.child.exitCode !== null) break;
    }
    agent.destroy();
    const used = `at most ${memory.toFixed(0)} MiB`;
    budget.note(used);
    if (memory > MOST_MEMORY_MIB) budget.fail('other', used);
  },
);
