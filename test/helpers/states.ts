import { requireTamperings } from '../../src/contract/tampering.ts';
import { startNaiveShop } from './busy.ts';
import { type Answer, startReceiver } from './receiver.ts';
import { ORDER, paid, type Sim } from './sim.ts';

/** Brings a payment, order-1, into a state. */
type Make = (sim: Sim) => Promise<unknown>;

const answered =
  (...answers: Answer[]): Make =>
  async (sim) =>
    paid(sim, { ipn_url: `${(await startReceiver(answers)).url}/ipn` });
const underRule =
  (rule: object, ...answers: Answer[]): Make =>
  async (sim) => {
    sim.server.parts.faults.set({ route: 'ipn', ...rule });
    await answered(...answers)(sim);
  };
/** Resends the IPN until the receiver has given each of its answers. */
const resent =
  (...answers: Answer[]): Make =>
  async (sim) => {
    const { url } = await startReceiver(answers);
    const { delivery } = await paid(sim, { ipn_url: `${url}/ipn` });
    for (const _ of answers.slice(1)) await sim.server.parts.ipns.resend(delivery?.id ?? '');
  };
const settled =
  (outcome: 'cancel' | 'fail' | 'expire'): Make =>
  async (sim) => {
    await sim.initiate(ORDER);
    await sim.server.parts.payments.settle('order-1', { outcome, by: 'control' });
  };

/** How a payment can be in each state of its page. */
export const STATES = {
  delivered: answered({}),
  'wrong signature': async (sim) =>
    paid(sim, { amount: '49.90', ipn_url: `${(await startNaiveShop(() => sim.secretKey)).url}/ipn` }),
  '400': answered({ status: 400, body: '{"ok":false}' }),
  '500': answered({ status: 500, body: 'TypeError: order is undefined' }),
  hang: answered('hang'),
  unreachable: (sim) => paid(sim),
  redirect: answered({ status: 302, headers: { location: '/login' } }),
  'accepted forgery': async (sim) => {
    await answered({})(sim);
    await sim.server.parts.ipns.fire({ payment: 'order-1', tamper: requireTamperings('amount') });
  },
  'corrupted signature accepted': underRule({ corruptSignature: true }, {}),
  'corrupted body rejected': underRule({ truncate: true }, { status: 400 }),
  delayed: underRule({ delay: '1h' }, {}),
  failed: settled('fail'),
  canceled: settled('cancel'),
  expired: settled('expire'),
  'mixed attempts': resent({ status: 302 }, 'drop', { status: 500 }, {}),
  'copies rejected': resent({}, { status: 500 }, { status: 400 }),
  pending: (sim) => sim.initiate(ORDER),
} as const satisfies Readonly<Record<string, Make>>;
