import Big from 'big.js';
import { startReceiver } from '../../helpers/receiver.ts';
import { ORDER } from '../../helpers/sim.ts';
import { type Emulator, startEmulator } from '../emulator.ts';
import { pick } from '../hostile-values.ts';
import { type Budget, trial } from '../trial.ts';

const OUTCOMES = ['approve', 'cancel', 'fail', 'expire'] as const;
const STATUS_OF = { approve: 'succeeded', cancel: 'canceled', fail: 'failed', expire: 'expired' };
const AT_ONCE = 12;
const RESENDS = 50;

interface Payment {
  id: string;
  status: string;
  amount: string;
  charge: string;
}

interface Delivery {
  id: string;
  paymentId: string;
  state: string;
  attempts: { number: number }[];
}

/** An emulator and its receiver; requests are counted. */
class Course {
  readonly sim: Emulator;
  readonly #receiver: string;
  readonly #budget: Budget;

  constructor(sim: Emulator, receiver: string, budget: Budget) {
    this.sim = sim;
    this.#receiver = receiver;
    this.#budget = budget;
  }

  async ask<Body>(path: string, body?: object, method = 'POST') {
    const answer = await this.sim.ask<Body>(path, body, method);
    this.#budget.requests();
    if (answer.status >= 500)
      this.#budget.fail('5xx', `${answer.status} from ${path}: ${JSON.stringify(answer.body)}`);
    return answer;
  }

  /** Initiates a live payment. Returns its id, or undefined if it was rejected. */
  async initiate(ipnPath = '/ipn'): Promise<string | undefined> {
    const order = { ...ORDER, public_key: this.sim.publicKey, ipn_url: this.#receiver + ipnPath };
    const { body } = await this.ask<{ url?: string }>('/payment/initiate', order);
    return body.url && (new URL(body.url).searchParams.get('payment_id') ?? undefined);
  }

  broken(what: string, seen: unknown): void {
    this.#budget.fail('lost', `${what}: ${JSON.stringify(seen).slice(0, 400)}`);
  }
}

/** Several clients settle the same payment while the customer cancels it and it expires. */
async function settleAtOnce(course: Course, budget: Budget): Promise<void> {
  const id = (await course.initiate()) ?? '';
  const outcomes = Array.from({ length: AT_ONCE }, () => pick(OUTCOMES, budget.below));
  const canceled = course.ask(`/initiate/payment/checkout/cancel?payment_id=${id}`);
  const expired = course.ask('/_sim/clock', { advance: budget.below(2) ? '1m' : '1ms' });
  const answers = await Promise.all(
    outcomes.map(async (outcome) => ({
      outcome,
      ...(await course.ask<{ payment?: Payment }>(`/_sim/payments/${id}/settle`, {
        outcome,
        delivery: 'ipn-only',
      })),
    })),
  );
  await Promise.all([canceled, expired]);
  const won = answers.filter(({ status }) => status === 200);
  const { body: payment } = await course.ask<Payment>(`/_sim/payments/${id}`, undefined, 'GET');
  if (won.length > 1) course.broken('two settlements of one payment', won);
  if (payment.status === 'pending') course.broken('a payment that no client settled', answers);
  const [winner] = won;
  if (winner && STATUS_OF[winner.outcome] !== payment.status)
    course.broken('the status differs from the response', payment);
  const { body: ipns } = await course.ask<{ data: Delivery[] }>(`/_sim/ipns?payment=${id}`, undefined, 'GET');
  const due = payment.status === 'succeeded' ? 1 : 0;
  if (ipns.data.length !== due)
    course.broken(`${ipns.data.length} IPNs of a ${payment.status} payment`, ipns);
}

/** Many clients resend the same IPN. Each creates one attempt, numbered without gaps. */
async function resendAtOnce(course: Course, path: string): Promise<void> {
  const id = (await course.initiate(path)) ?? '';
  const settled = await course.ask<{ delivery: Delivery }>(`/_sim/payments/${id}/settle`, {
    outcome: 'approve',
  });
  const ipn = settled.body.delivery.id;
  const answers = await Promise.all(
    Array.from({ length: RESENDS }, () => course.ask(`/_sim/ipns/${ipn}/resend`, {})),
  );
  const answered = answers.filter(({ status }) => status === 200).length;
  const { body } = await course.ask<Delivery>(`/_sim/ipns/${ipn}`, undefined, 'GET');
  const numbers = body.attempts.map(({ number }) => number).sort((one, other) => one - other);
  const isWhole = numbers.length === answered + 1 && numbers.every((number, index) => number === index + 1);
  if (!isWhole) course.broken(`${answered} answered resends`, numbers);
}

/** Several clients charge a card, together more than its balance, while it may be canceled. */
async function chargeAtOnce(course: Course, budget: Budget): Promise<void> {
  const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${course.sim.secretKey}` };
  const issued = await fetch(`${course.sim.url}/api/cards/save`, {
    method: 'POST',
    headers,
    body: JSON.stringify({
      currency_code: 'USD',
      title: 'Race',
      name_on_card: 'Ada',
      email: 'a@example.com',
      amount: '50',
    }),
  });
  if (issued.status !== 200) course.broken('no card', await issued.text());
  const [card] = (
    await course.sim.control<{ data: { id: string; availableBalance: string }[] }>('/cards?limit=1')
  ).data;
  if (!card) return;
  const charges = Array.from({ length: AT_ONCE }, () =>
    course.ask(`/_sim/cards/${card.id}/transactions`, { type: 'charge', amount: '7.00' }),
  );
  const ended = budget.below(2)
    ? fetch(`${course.sim.url}/api/cards/cancel/${card.id}`, { method: 'PUT', headers })
    : undefined;
  const answers = await Promise.all(charges);
  await ended;
  const taken = answers.filter(({ status }) => status === 201).length;
  const after = await course.sim.control<{ availableBalance: string; transactions: unknown[] }>(
    `/cards/${card.id}`,
  );
  const expected = new Big(card.availableBalance).minus(new Big('7.00').times(taken));
  if (!expected.eq(after.availableBalance) || expected.lt(0))
    course.broken(`${taken} charges of 7.00`, [card, after]);
  if (after.transactions.length < taken) course.broken(`${taken} charges`, after.transactions);
}

/** Imports a state or resets the emulator while payments are created and IPNs are sent. */
async function replaceAtOnce(course: Course, budget: Budget): Promise<void> {
  const before = await course.sim.control<object>('/snapshot');
  const busy = Array.from({ length: AT_ONCE }, async () => {
    const id = await course.initiate();
    if (id) await course.ask(`/_sim/payments/${id}/settle`, { outcome: 'approve', delivery: 'ipn-twice' });
  });
  const replaced = budget.below(2)
    ? course.ask('/_sim/reset', {})
    : course.ask('/_sim/snapshot', before, 'PUT');
  await Promise.all([...busy, replaced]);
  const state = await course.sim.control<{ payments: Payment[]; deliveries: Delivery[] }>('/snapshot');
  const ids = new Set(state.payments.map(({ id }) => id));
  const orphans = state.deliveries.filter(({ paymentId }) => paymentId !== null && !ids.has(paymentId));
  if (orphans.length) course.broken('IPNs without their payments', orphans);
  const again = await course.ask('/_sim/snapshot', state, 'PUT');
  if (again.status !== 200) course.broken('an exported state that cannot be imported', again.body);
}

/** Checks that the money of all succeeded payments has moved from the wallets to the merchant. */
async function addUp(course: Course, initial: Balances): Promise<void> {
  const state = await course.sim.control<State>('/snapshot');
  const paid = state.payments.filter(({ status }) => status === 'succeeded');
  const gross = paid.reduce((sum, { amount }) => sum.plus(amount), new Big(0));
  const net = paid.reduce((sum, { amount, charge }) => sum.plus(amount).minus(charge), new Big(0));
  const { merchant, wallets } = balancesOf(state);
  if (!merchant.minus(initial.merchant).eq(net))
    course.broken(`the merchant should have received ${net}`, merchant);
  if (!initial.wallets.minus(wallets).eq(gross))
    course.broken(`the wallets should have lost ${gross}`, wallets);
}

interface State {
  payments: Payment[];
  merchants: { balances: Record<string, string> }[];
  wallets: { currency: string; balance: string }[];
}

type Balances = ReturnType<typeof balancesOf>;

function balancesOf({ merchants, wallets }: State) {
  const merchant = merchants.reduce((sum, { balances }) => sum.plus(balances['USD'] ?? 0), new Big(0));
  const dollars = wallets.filter(({ currency }) => currency === 'USD');
  return { merchant, wallets: dollars.reduce((sum, { balance }) => sum.plus(balance), new Big(0)) };
}

trial(
  'concurrent settlements, resends, cards and states',
  { short: 4, least: 100, share: 2 },
  async (budget) => {
    const receiver = await startReceiver(({ url }) => ({ status: url === '/refuse' ? 500 : 200 }));
    const sim = await startEmulator(['--quiet', '--payment-expires', '1m', '--ipn-schedule', '24h']);
    const course = new Course(sim, receiver.url, budget);
    const fresh = await sim.control<State & object>('/snapshot');
    await budget.repeat(async (number) => {
      // Otherwise, the state would grow with every round.
      if (number % 50 === 0) await course.ask('/_sim/snapshot', fresh, 'PUT');
      await settleAtOnce(course, budget);
      if (number % 5 === 0) await resendAtOnce(course, number % 2 ? '/refuse' : '/ipn');
      await chargeAtOnce(course, budget);
      if (number % 10 === 9) await addUp(course, balancesOf(fresh));
      if (number % 50 === 49) await replaceAtOnce(course, budget);
      await sim.check(budget, 'races');
    });
    await replaceAtOnce(course, budget);
  },
);
