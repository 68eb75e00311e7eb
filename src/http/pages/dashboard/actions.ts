import { ClockInput } from '../../../contract/clock.ts';
import { FaultRule } from '../../../contract/fault.ts';
import { parseInput } from '../../../contract/input.ts';
import { SettleInput } from '../../../contract/payment.ts';
import { requireTampering } from '../../../contract/tampering.ts';
import type { CardAction, CardMovementKind } from '../../../contract/vocabulary.ts';
import type { AppContext, AppParts } from '../../environment.ts';
import type { FormValues } from './forms.tsx';
import { PLACES, recordPath } from './navigation.ts';
import { idOf } from './page.tsx';

/** What a form does; returns the address that the browser goes to. */
export type FormAction = (parts: AppParts, c: AppContext, fields: FormValues) => Promise<string>;

export const settle: FormAction = async ({ payments }, c, { outcome, delivery }) => {
  const input = parseInput(SettleInput, { outcome, ...(delivery && { delivery }) });
  const { payment } = await payments.settle(idOf(c), { ...input, by: 'control' });
  return recordPath('payments', payment.id);
};

export const resend: FormAction = async ({ ipns }, c, { to, from }) => {
  const sent = await ipns.resend(idOf(c), to || undefined);
  const page = recordPath('ipns', sent.id);
  const back = ownPage(from, page);
  // The outcome is looked for where the press was, not at the top.
  return to || back === page ? `${page}#send` : `${back}#${sent.id}`;
};

export const sendTampered: FormAction = async ({ ipns }, c, { tamper = '' }) => {
  const { paymentId, url } = ipns.require(idOf(c));
  const [fired] = await ipns.fire({
    ...(paymentId !== null && { payment: paymentId }),
    to: url,
    tamper: requireTampering(tamper),
  });
  return recordPath('ipns', fired?.id ?? idOf(c));
};

export const createCard: FormAction = async ({ cards, dialect, merchants }, _, { merchant, ...fields }) => {
  const owner = merchant ? merchants.require(merchant) : merchants.default;
  return recordPath('cards', (await cards.issue(owner, dialect.readCard({ fields, text: '' }))).id);
};

export function moveCard(kind: CardMovementKind): FormAction {
  return async ({ cards }, c, { amount = '', details }) => {
    await cards.move(idOf(c), kind, { amount: amount.trim(), ...(details && { details }) });
    return recordPath('cards', idOf(c));
  };
}

export function actOnCard(action: CardAction): FormAction {
  return async ({ cards, merchants }, c) => {
    const { merchantId } = cards.require(idOf(c));
    await cards.apply(merchants.require(merchantId), idOf(c), action);
    return recordPath('cards', idOf(c));
  };
}

export const generateKeys: FormAction = async ({ merchants }, _, { merchant }) => {
  await merchants.replaceKeys(merchant || merchants.default.id);
  return PLACES.keys.path;
};

export const createMerchant: FormAction = async ({ merchants }, _, { name = '' }) => {
  await merchants.add(name);
  return PLACES.keys.path;
};

export const addFault: FormAction = async ({ faults }, _, fields) => {
  faults.set(parseInput(FaultRule, faultRule(fields)));
  return PLACES.faults.path;
};

export const removeFaults: FormAction = async ({ faults }, _, { route, identifier, from }) => {
  faults.clear(route || undefined, { identifier: identifier || undefined });
  return ownPage(from, PLACES.faults.path);
};

export const changeClock: FormAction = async ({ clock }, _, { move = '', by, at, from }) => {
  const { now, nextDue } = clock.read();
  const moves: Record<string, object> = {
    advance: { advance: by },
    next: { advance: atLeast((nextDue ?? now) - now) },
    freeze: { freeze: at?.trim() || 'now' },
    resume: { resume: true },
  };
  await clock.move(parseInput(ClockInput, Object.hasOwn(moves, move) ? (moves[move] ?? {}) : {}));
  return ownPage(from, PLACES.clock.path);
};

/** A duration as it is written, which takes nine digits: to the millisecond, or the second above. */
function atLeast(milliseconds: number): string {
  const whole = Math.max(0, Math.ceil(milliseconds));
  return whole < 1e9 ? `${whole}ms` : `${Math.ceil(whole / 1_000)}s`;
}

/** A page of ours, with what it is narrowed to. */
const OWN_PAGE = /^\/_sim(\/ui\/[\w/-]*)?(\?[\w=&%.+~*-]*)?$/;

/** Back to the page of ours that a form stood on; never anywhere else. */
function ownPage(from: string | undefined, otherwise: string): string {
  return from !== undefined && OWN_PAGE.test(from) ? from : otherwise;
}

function faultRule({ route, effect = '', status, latency = '', times, identifier }: FormValues): object {
  const effects: Record<string, unknown> = { status: Number(status), latency };
  return {
    route,
    [effect]: effects[effect] ?? true,
    ...(times && { times: Number(times) }),
    ...(identifier && { identifier }),
  };
}
