import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/contract/error.ts';
import { connectGatewaySim, type GatewaySimClient } from '../../src/index.ts';
import { readCard } from '../../src/service/cards.ts';
import { runJson } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { CARD } from '../helpers/records.ts';
import { ORDER, type Sim, startSim } from '../helpers/sim.ts';

/*
 * One fact about each verb of each noun, which the command line and the library have in common. Both use the routes of
 * the control API, whose paths, statuses and shapes test/http/openapi.test.ts checks. What only one of them does is tested
 * with it.
 */

/** A verb, or the same verb with an error. `:ipn`, `:card` and `:receiver` stand for what `prepared` made. */
interface Verb {
  cli: string;
  library: (client: GatewaySimClient, ids: Ids) => Promise<unknown>;
  /** The result, or the code of the error. */
  gives: object | ErrorCode;
  /** What a path of the control API shows afterwards. */
  after?: readonly [path: string, shows: object];
}

type Ids = Record<'ipn' | 'card' | 'receiver', string>;

/** An emulator with a paid and a pending payment, one IPN, one card and two faults that nothing meets. */
async function prepared() {
  const receiver = await startReceiver();
  const sim = await startSim({ ipnSchedule: ['1h'] });
  const { cards, faults, merchants, payments } = sim.server.parts;
  for (const route of ['/nowhere', '/elsewhere'] as const) faults.set({ route, status: 500 });
  for (const identifier of ['paid', 'pending'])
    await sim.initiate({ ...ORDER, identifier, ipn_url: receiver.url });
  const { delivery } = await payments.settle('paid', { outcome: 'approve', by: 'control' });
  const card = await cards.issue(merchants.default, readCard({ fields: CARD, text: '' }));
  return { sim, ids: { ipn: delivery?.id ?? '', card: card.id, receiver: receiver.url } };
}

const filled = (text: string, ids: Ids) =>
  text.replace(/:(ipn|card|receiver)\b/g, (_, name: keyof Ids) => ids[name]);

/** Each returns the result, or the code of the error. */
const EDGES = {
  async 'the command line'({ cli }: Verb, { url }: Sim, ids: Ids) {
    const args = filled(cli, ids).split(' ');
    const options = { cwd: await temporaryFolder(), env: { GATEWAY_SIM_URL: url } };
    const { code, body } = await runJson<{ code: ErrorCode }>(args, options);
    if (code === 0) return body;
    expect(code).toBe(ERRORS[body.code].exitCode);
    return body.code;
  },
  async 'the library'({ library }: Verb, { url }: Sim, ids: Ids) {
    return library(await connectGatewaySim(url), ids).catch(({ code }: { code: ErrorCode }) => code);
  },
};

const settled = (
  outcome: 'approve' | 'cancel' | 'fail' | 'expire',
  status: string,
  redirectUrl: unknown,
): Verb => ({
  cli: `pay pending --${outcome}`,
  library: ({ payments }) => payments[outcome]('pending'),
  gives: {
    payment: { status, settledBy: 'control' },
    redirectUrl,
    delivery: outcome === 'approve' ? { state: 'delivered' } : null,
  },
  after: ['/payments/pending', { status }],
});

const changed = (action: 'activate' | 'block' | 'cancel', status: string): Verb => ({
  cli: `cards ${action} :card`,
  library: ({ cards }, { card }) => cards[action](card),
  gives: { status },
  after: ['/cards', { data: [{ status }] }],
});

const moved = (type: 'charge' | 'fund', sign: string, amount: string, availableBalance: string): Verb => ({
  cli: `cards ${type} :card --amount ${amount} --details Coffee`,
  library: ({ cards }, { card }) => cards[type](card, { amount, details: 'Coffee' }),
  gives: { card: { availableBalance }, transaction: { type: sign, amount, details: 'Coffee' } },
  after: ['/cards', { data: [{ availableBalance }] }],
});

const VERBS: Readonly<Record<string, Readonly<Record<string, Verb>>>> = {
  payments: {
    'list, newest first': {
      cli: 'payments list',
      library: ({ payments }) => payments.list(),
      gives: { data: [{ identifier: 'pending' }, { identifier: 'paid' }], nextCursor: null },
    },
    'list with filters': {
      cli: 'payments list --status succeeded --mode sandbox --identifier paid',
      library: ({ payments }) => payments.list({ status: 'succeeded', mode: 'sandbox', identifier: 'paid' }),
      gives: { data: [{ identifier: 'paid' }] },
    },
    'list a page': {
      cli: 'payments list --limit 1 --cursor 1',
      library: ({ payments }) => payments.list({ limit: 1, cursor: '1' }),
      gives: { data: [{ identifier: 'paid' }], nextCursor: null },
    },
    'list with an invalid filter': {
      cli: 'payments list --limit 0',
      library: ({ payments }) => payments.list({ cursor: '-1' }),
      gives: 'invalid_fields',
    },
    show: {
      cli: 'payments show paid',
      library: ({ payments }) => payments.get('paid'),
      gives: {
        status: 'succeeded',
        timeline: [{ event: 'initiated' }, { event: 'settled' }, { event: 'ipn_attempted' }],
      },
    },
    'show an unknown one': {
      cli: 'payments show nobody',
      library: ({ payments }) => payments.get('nobody'),
      gives: 'not_found',
    },
    create: {
      cli: 'payments create --identifier fresh --amount 7.50 --currency EUR',
      library: ({ payments }) => payments.create({ identifier: 'fresh', amount: '7.50', currency: 'EUR' }),
      gives: { identifier: 'fresh', amount: '7.50', currency: 'EUR', mode: 'sandbox', status: 'pending' },
      after: ['/payments', { data: [{ identifier: 'fresh' }, {}, {}] }],
    },
    approve: settled('approve', 'succeeded', ORDER['success_url']),
    cancel: settled('cancel', 'canceled', ORDER['cancel_url']),
    fail: settled('fail', 'failed', ORDER['cancel_url']),
    expire: settled('expire', 'expired', null),
    'settle a settled one': {
      cli: 'pay paid --cancel',
      library: ({ payments }) => payments.cancel('paid'),
      gives: 'wrong_state',
      after: ['/payments/paid', { status: 'succeeded' }],
    },
  },
  IPNs: {
    list: {
      cli: 'ipn list --state delivered --payment paid',
      library: ({ ipns }) => ipns.list({ state: 'delivered', payment: 'paid' }),
      gives: { data: [{ identifier: 'paid', attempts: [{ responseStatus: 200 }] }], nextCursor: null },
    },
    show: {
      cli: 'ipn show :ipn',
      library: ({ ipns }, { ipn }) => ipns.get(ipn),
      gives: { state: 'delivered', attempts: [{ number: 1 }], verdict: { tone: 'good' } },
    },
    resend: {
      cli: 'ipn resend :ipn',
      library: ({ ipns }, { ipn }) => ipns.resend(ipn),
      gives: { state: 'delivered', attempts: [{ number: 1 }, { number: 2 }] },
    },
    'resend to another address': {
      cli: 'ipn resend :ipn --to :receiver/other',
      library: ({ ipns }, { ipn, receiver }) => ipns.resend(ipn, { to: `${receiver}/other` }),
      gives: { url: expect.stringMatching(/\/other$/), attempts: [{ number: 1 }] },
      after: ['/ipns', { data: [{}, {}] }],
    },
    fire: {
      cli: 'ipn fire --to :receiver --amount 9 --set data.charge=1',
      library: async ({ ipns }, { receiver }) =>
        (await ipns.fire({ to: receiver, amount: '9', set: { 'data.charge': '1' } }))[0],
      gives: {
        paymentId: null,
        state: 'delivered',
        body: expect.stringMatching(/amount%5D=9&.*charge%5D=1&.*code%5D=USD&/),
      },
    },
    'fire a forged one': {
      cli: 'ipn fire --to :receiver --tamper amount=1 --tamper status',
      library: async ({ ipns }, { receiver }) =>
        (await ipns.fire({ to: receiver, tamper: ['amount=1', 'status'] }))[0],
      gives: { status: 'failed', note: 'tampered with: amount 100.00 → 1, status success → failed' },
    },
    'fire at a public address': {
      cli: 'ipn fire --to http://203.0.113.1/ipn',
      library: ({ ipns }) => ipns.fire({ to: 'http://203.0.113.1/ipn' }),
      gives: 'forbidden',
    },
  },
  cards: {
    list: {
      cli: 'cards list --status active',
      library: ({ cards }) => cards.list({ status: 'active' }),
      gives: { data: [{ title: CARD.title, status: 'active' }], nextCursor: null },
    },
    show: {
      cli: 'cards show :card',
      library: ({ cards }, { card }) => cards.get(card),
      gives: { title: CARD.title, amount: CARD.amount, transactions: [] },
    },
    create: {
      cli: 'cards create --amount 50.00 --title Ads',
      library: ({ cards }) => cards.create({ amount: '50.00', title: 'Ads' }),
      gives: { status: 'active', title: 'Ads', amount: '50.00', transactions: [] },
      after: ['/cards', { data: [{ title: 'Ads' }, {}] }],
    },
    activate: changed('activate', 'active'),
    block: changed('block', 'inactive'),
    cancel: changed('cancel', 'canceled'),
    charge: moved('charge', '-', '12.50', '235.00'),
    fund: moved('fund', '+', '2.00', '249.50'),
    'charge more than the balance': {
      cli: 'cards charge :card --amount 1000',
      library: ({ cards }, { card }) => cards.charge(card, { amount: '1000' }),
      gives: 'insufficient_funds',
    },
  },
  wallets: {
    list: {
      cli: 'wallets list',
      library: ({ wallets }) => wallets.list(),
      gives: {
        data: expect.arrayContaining([expect.objectContaining({ id: 'wal_poor_usd', balance: '1.00' })]),
      },
    },
    fund: {
      cli: 'wallets fund wal_poor_usd --amount 2.50',
      library: ({ wallets }) => wallets.fund('wal_poor_usd', '2.50'),
      gives: { id: 'wal_poor_usd', currency: 'USD', balance: '3.50' },
    },
  },
  merchants: {
    create: {
      cli: 'keys generate --merchant second',
      library: ({ merchants }) => merchants.create('second'),
      gives: { publicKey: expect.stringMatching(/^pub_sim_/), secretKey: expect.stringMatching(/^sec_sim_/) },
      after: ['/merchants', { data: [{ isDefault: true }, { name: 'second', isDefault: false }] }],
    },
    'replace keys': {
      cli: 'keys generate',
      library: ({ merchants }) => merchants.generateKeys(),
      gives: { publicKey: expect.stringMatching(/^pub_sim_/), secretKey: expect.stringMatching(/^sec_sim_/) },
      after: ['/merchants', { data: [{ formerKeys: [{}] }] }],
    },
  },
  faults: {
    set: {
      cli: 'faults set initiate --status 503 --times 2',
      library: ({ faults }) => faults.set({ route: 'initiate', status: 503, times: 2 }),
      gives: { route: 'initiate', status: 503, times: 2, used: 0, spent: false },
      after: ['/faults', { data: [{}, {}, { summary: 'initiate: status 503, 2 times (2 left)' }] }],
    },
    list: {
      cli: 'faults list',
      library: ({ faults }) => faults.list(),
      gives: { data: [{ route: '/nowhere', used: 0 }, { route: '/elsewhere' }], nextCursor: null },
    },
    clear: {
      cli: 'faults clear /nowhere',
      library: async ({ faults }) => (await faults.clear('/nowhere')) ?? {},
      gives: {},
      after: ['/faults', { data: [{ route: '/elsewhere' }] }],
    },
  },
  'the clock': {
    show: {
      cli: 'clock show',
      library: ({ clock }) => clock.now(),
      gives: { frozen: false, aheadMs: 0, nextDue: null },
    },
    advance: {
      cli: 'clock advance 2h',
      library: ({ clock }) => clock.advance('2h'),
      // Real time goes on while it runs, and may be set.
      gives: { frozen: false, aheadMs: expect.closeTo(7_200_000, -5) },
    },
    freeze: {
      cli: 'clock freeze 2999-01-01T00:00:00Z',
      library: ({ clock }) => clock.freeze('2999-01-01T00:00:00Z'),
      gives: { now: '2999-01-01T00:00:00.000Z', frozen: true },
      after: ['/clock', { frozen: true }],
    },
    resume: {
      cli: 'clock resume',
      library: ({ clock }) => clock.resume(),
      gives: { frozen: false },
    },
  },
  'the state': {
    reset: {
      cli: 'state reset',
      library: async ({ reset }) => (await reset()) ?? {},
      gives: {},
      after: ['/payments', { data: [] }],
    },
    export: {
      cli: 'state export -',
      library: ({ snapshot }) => snapshot(),
      gives: {
        payments: [{ identifier: 'paid' }, { identifier: 'pending' }],
        cards: [{ title: CARD.title }],
      },
    },
  },
};

describe.each(Object.entries(EDGES))('%s can', (_, edge) => {
  describe.each(Object.entries(VERBS))('%s:', (_, verbs) => {
    it.each(Object.entries(verbs))('%s', async (_, verb) => {
      const { sim, ids } = await prepared();
      const result = await edge(verb, sim, ids);
      if (typeof verb.gives === 'string') expect(result).toBe(verb.gives);
      else expect(result).toMatchObject(verb.gives);
      if (verb.after) expect(await sim.control(verb.after[0])).toMatchObject(verb.after[1]);
    });
  });
});
