import { describe, expect, it } from 'vitest';
import { ERRORS, type ErrorCode } from '../../src/contract/error.ts';
import { connectGatewaySim, type GatewaySimClient } from '../../src/index.ts';
import { readCard } from '../../src/service/cards.ts';
import { runJson } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { CARD } from '../helpers/records.ts';
import { ask, ORDER, type Sim, startSim } from '../helpers/sim.ts';

/*
 * One fact about each verb of each noun, which the control API, the command line and the library have in common. What
 * only one of them does is tested with it.
 */

/** A verb, or the same verb with an error. `:ipn`, `:card` and `:receiver` stand for what `prepared` made. */
interface Verb {
  http?: readonly [method: string, path: string, json?: object];
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
  async 'the control API'({ http }: Verb, sim: Sim, ids: Ids) {
    const [method, path, json] = http ?? expect.fail('the control API has no such route');
    const sent = json && filled(JSON.stringify(json), ids);
    const { status, body } = await ask<{ code: ErrorCode }>(sim, method, filled(path, ids), sent);
    if (status < 400) return body;
    expect(status).toBe(ERRORS[body.code].status);
    return body.code;
  },
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
  http: ['POST', '/payments/pending/settle', { outcome }],
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
  http: ['POST', '/cards/:card/transactions', { type, amount, details: 'Coffee' }],
  cli: `cards ${type} :card --amount ${amount} --details Coffee`,
  library: ({ cards }, { card }) => cards[type](card, { amount, details: 'Coffee' }),
  gives: { card: { availableBalance }, transaction: { type: sign, amount, details: 'Coffee' } },
  after: ['/cards', { data: [{ availableBalance }] }],
});

const VERBS: Readonly<Record<string, Readonly<Record<string, Verb>>>> = {
  payments: {
    'list, newest first': {
      http: ['GET', '/payments'],
      cli: 'payments list',
      library: ({ payments }) => payments.list(),
      gives: { data: [{ identifier: 'pending' }, { identifier: 'paid' }], nextCursor: null },
    },
    'list with filters': {
      http: ['GET', '/payments?status=succeeded&mode=sandbox&identifier=paid'],
      cli: 'payments list --status succeeded --mode sandbox --identifier paid',
      library: ({ payments }) => payments.list({ status: 'succeeded', mode: 'sandbox', identifier: 'paid' }),
      gives: { data: [{ identifier: 'paid' }] },
    },
    'list a page': {
      http: ['GET', '/payments?limit=1&cursor=1'],
      cli: 'payments list --limit 1 --cursor 1',
      library: ({ payments }) => payments.list({ limit: 1, cursor: '1' }),
      gives: { data: [{ identifier: 'paid' }], nextCursor: null },
    },
    'list with an invalid filter': {
      http: ['GET', '/payments?status=paid'],
      cli: 'payments list --limit 0',
      library: ({ payments }) => payments.list({ cursor: '-1' }),
      gives: 'invalid_fields',
    },
    show: {
      http: ['GET', '/payments/paid'],
      cli: 'payments show paid',
      library: ({ payments }) => payments.get('paid'),
      gives: {
        status: 'succeeded',
        timeline: [{ event: 'initiated' }, { event: 'settled' }, { event: 'ipn_attempted' }],
      },
    },
    'show an unknown one': {
      http: ['GET', '/payments/nobody'],
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
      http: ['POST', '/payments/paid/settle', { outcome: 'cancel' }],
      cli: 'pay paid --cancel',
      library: ({ payments }) => payments.cancel('paid'),
      gives: 'wrong_state',
      after: ['/payments/paid', { status: 'succeeded' }],
    },
  },
  IPNs: {
    list: {
      http: ['GET', '/ipns?state=delivered&payment=paid'],
      cli: 'ipn list --state delivered --payment paid',
      library: ({ ipns }) => ipns.list({ state: 'delivered', payment: 'paid' }),
      gives: { data: [{ identifier: 'paid', attempts: [{ responseStatus: 200 }] }], nextCursor: null },
    },
    show: {
      http: ['GET', '/ipns/:ipn'],
      cli: 'ipn show :ipn',
      library: ({ ipns }, { ipn }) => ipns.get(ipn),
      gives: { state: 'delivered', attempts: [{ number: 1 }], verdict: { tone: 'good' } },
    },
    resend: {
      http: ['POST', '/ipns/:ipn/resend'],
      cli: 'ipn resend :ipn',
      library: ({ ipns }, { ipn }) => ipns.resend(ipn),
      gives: { state: 'delivered', attempts: [{ number: 1 }, { number: 2 }] },
    },
    'resend to another address': {
      http: ['POST', '/ipns/:ipn/resend', { to: ':receiver/other' }],
      cli: 'ipn resend :ipn --to :receiver/other',
      library: ({ ipns }, { ipn, receiver }) => ipns.resend(ipn, { to: `${receiver}/other` }),
      gives: { url: expect.stringMatching(/\/other$/), attempts: [{ number: 1 }] },
      after: ['/ipns', { data: [{}, {}] }],
    },
    fire: {
      http: ['POST', '/ipns', { to: ':receiver', amount: '9', set: { 'data.charge': '1' } }],
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
      http: ['POST', '/ipns', { to: ':receiver', tamper: ['amount=1', 'status'] }],
      cli: 'ipn fire --to :receiver --tamper amount=1 --tamper status',
      library: async ({ ipns }, { receiver }) =>
        (await ipns.fire({ to: receiver, tamper: ['amount=1', 'status'] }))[0],
      gives: { status: 'failed', note: 'tampered with: amount 100.00 → 1, status success → failed' },
    },
    'fire at a public address': {
      http: ['POST', '/ipns', { to: 'http://203.0.113.1/ipn' }],
      cli: 'ipn fire --to http://203.0.113.1/ipn',
      library: ({ ipns }) => ipns.fire({ to: 'http://203.0.113.1/ipn' }),
      gives: 'forbidden',
    },
  },
  cards: {
    list: {
      http: ['GET', '/cards?status=active'],
      cli: 'cards list --status active',
      library: ({ cards }) => cards.list({ status: 'active' }),
      gives: { data: [{ title: CARD.title, status: 'active' }], nextCursor: null },
    },
    show: {
      http: ['GET', '/cards/:card'],
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
      http: ['POST', '/cards/:card/transactions', { type: 'charge', amount: '1000' }],
      cli: 'cards charge :card --amount 1000',
      library: ({ cards }, { card }) => cards.charge(card, { amount: '1000' }),
      gives: 'insufficient_funds',
    },
  },
  wallets: {
    list: {
      http: ['GET', '/wallets'],
      cli: 'wallets list',
      library: ({ wallets }) => wallets.list(),
      gives: {
        data: expect.arrayContaining([expect.objectContaining({ id: 'wal_poor_usd', balance: '1.00' })]),
      },
    },
    fund: {
      http: ['POST', '/wallets/wal_poor_usd/fund', { amount: '2.50' }],
      cli: 'wallets fund wal_poor_usd --amount 2.50',
      library: ({ wallets }) => wallets.fund('wal_poor_usd', '2.50'),
      gives: { id: 'wal_poor_usd', currency: 'USD', balance: '3.50' },
    },
  },
  merchants: {
    create: {
      http: ['POST', '/merchants', { name: 'second' }],
      cli: 'keys generate --merchant second',
      library: ({ merchants }) => merchants.create('second'),
      gives: { publicKey: expect.stringMatching(/^pub_sim_/), secretKey: expect.stringMatching(/^sec_sim_/) },
      after: ['/merchants', { data: [{ isDefault: true }, { name: 'second', isDefault: false }] }],
    },
    'replace keys': {
      http: ['POST', '/merchants/mer_demo/keys'],
      cli: 'keys generate',
      library: ({ merchants }) => merchants.generateKeys(),
      gives: { publicKey: expect.stringMatching(/^pub_sim_/), secretKey: expect.stringMatching(/^sec_sim_/) },
      after: ['/merchants', { data: [{ formerKeys: [{}] }] }],
    },
  },
  faults: {
    set: {
      http: ['POST', '/faults', { route: 'initiate', status: 503, times: 2 }],
      cli: 'faults set initiate --status 503 --times 2',
      library: ({ faults }) => faults.set({ route: 'initiate', status: 503, times: 2 }),
      gives: { route: 'initiate', status: 503, times: 2, used: 0, spent: false },
      after: ['/faults', { data: [{}, {}, { summary: 'initiate: status 503, 2 times (2 left)' }] }],
    },
    list: {
      http: ['GET', '/faults'],
      cli: 'faults list',
      library: ({ faults }) => faults.list(),
      gives: { data: [{ route: '/nowhere', used: 0 }, { route: '/elsewhere' }], nextCursor: null },
    },
    clear: {
      http: ['DELETE', '/faults?route=/nowhere'],
      cli: 'faults clear /nowhere',
      library: async ({ faults }) => (await faults.clear('/nowhere')) ?? {},
      gives: {},
      after: ['/faults', { data: [{ route: '/elsewhere' }] }],
    },
  },
  'the clock': {
    show: {
      http: ['GET', '/clock'],
      cli: 'clock show',
      library: ({ clock }) => clock.now(),
      gives: { frozen: false, aheadMs: 0, nextDue: null },
    },
    advance: {
      http: ['POST', '/clock', { advance: '2h' }],
      cli: 'clock advance 2h',
      library: ({ clock }) => clock.advance('2h'),
      // Real time goes on while it runs, and may be set.
      gives: { frozen: false, aheadMs: expect.closeTo(7_200_000, -5) },
    },
    freeze: {
      http: ['POST', '/clock', { freeze: '2999-01-01T00:00:00Z' }],
      cli: 'clock freeze 2999-01-01T00:00:00Z',
      library: ({ clock }) => clock.freeze('2999-01-01T00:00:00Z'),
      gives: { now: '2999-01-01T00:00:00.000Z', frozen: true },
      after: ['/clock', { frozen: true }],
    },
    resume: {
      http: ['POST', '/clock', { resume: true }],
      cli: 'clock resume',
      library: ({ clock }) => clock.resume(),
      gives: { frozen: false },
    },
  },
  'the state': {
    reset: {
      http: ['POST', '/reset'],
      cli: 'state reset',
      library: async ({ reset }) => (await reset()) ?? {},
      gives: {},
      after: ['/payments', { data: [] }],
    },
    export: {
      http: ['GET', '/snapshot'],
      cli: 'state export -',
      library: ({ snapshot }) => snapshot(),
      gives: {
        payments: [{ identifier: 'paid' }, { identifier: 'pending' }],
        cards: [{ title: CARD.title }],
      },
    },
  },
};

describe.each(Object.entries(EDGES))('%s can', (name, edge) => {
  describe.each(Object.entries(VERBS))('%s:', (_, all) => {
    // A merchant's verbs have routes of the service only.
    const verbs = Object.entries(all).filter(([, { http }]) => http || name !== 'the control API');
    it.each(verbs)('%s', async (_, verb) => {
      const { sim, ids } = await prepared();
      const result = await edge(verb, sim, ids);
      if (typeof verb.gives === 'string') expect(result).toBe(verb.gives);
      else expect(result).toMatchObject(verb.gives);
      if (verb.after) expect(await sim.control(verb.after[0])).toMatchObject(verb.after[1]);
    });
  });
});
