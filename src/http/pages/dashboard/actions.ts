import type { CardAction, CardMovementKind } from '../../../contract/vocabulary.ts';
import { requireCard } from '../../../domain/card.ts';
import { FaultRule } from '../../../domain/fault.ts';
import { requireDelivery, requireTampering } from '../../../domain/fire.ts';
import { defaultMerchant, requireMerchant } from '../../../domain/merchant.ts';
import { ClockInput, moveClock } from '../../control/clock.ts';
import { clearFaults, setFault } from '../../control/faults.ts';
import { addMerchant, replaceKeys } from '../../control/merchants.ts';
import { SettleInput } from '../../control/payments.ts';
import type { AppContext, AppParts } from '../../environment.ts';
import { parseInput } from '../../input.ts';
import type { FormValues } from './forms.tsx';
import { PLACES, recordPath } from './navigation.ts';

/** What a form does; returns the address that the browser goes to. */
export type FormAction = (parts: AppParts, c: AppContext, fields: FormValues) => Promise<string>;

const idOf = (c: AppContext) => c.req.param('id') ?? '';

export const settle: FormAction = async ({ gateway }, c, { outcome, delivery }) => {
  const input = parseInput(SettleInput, { outcome, ...(delivery && { delivery }) });
  const { payment } = await gateway.settle(idOf(c), { ...input, by: 'control' });
  return recordPath('payments', payment.id);
};

export const resend: FormAction = async ({ gateway }, c, { to, from }) => {
  const sent = await gateway.resend(idOf(c), to || undefined);
  const page = recordPath('ipns', sent.id);
  const back = ownPage(from, page);
  // The outcome is looked for where the press was, not at the top.
  return to || back === page ? `${page}#send` : `${back}#${sent.id}`;
};

export const sendTampered: FormAction = async ({ gateway }, c, { tamper = '' }) => {
  const { paymentId, url } = requireDelivery(gateway.state, idOf(c));
  const [fired] = await gateway.fire({
    ...(paymentId !== null && { payment: paymentId }),
    to: url,
    tamper: requireTampering(tamper),
  });
  return recordPath('ipns', fired?.id ?? idOf(c));
};

export const createCard: FormAction = async ({ gateway, cards }, _, { merchant, ...fields }) => {
  const { state } = gateway;
  const owner = merchant ? requireMerchant(state, merchant) : defaultMerchant(state);
  return recordPath('cards', (await cards.issue(owner, { fields })).id);
};

export function moveCard(kind: CardMovementKind): FormAction {
  return async ({ cards }, c, { amount = '', details }) => {
    await cards.move(idOf(c), kind, { amount: amount.trim(), ...(details && { details }) });
    return recordPath('cards', idOf(c));
  };
}

export function actOnCard(action: CardAction): FormAction {
  return async ({ gateway, cards }, c) => {
    const { merchantId } = requireCard(gateway.state, idOf(c));
    await cards.trigger(requireMerchant(gateway.state, merchantId), idOf(c), action);
    return recordPath('cards', idOf(c));
  };
}

export const generateKeys: FormAction = async (parts, _, { merchant }) => {
  await replaceKeys(parts, merchant || defaultMerchant(parts.gateway.state).id);
  return PLACES.keys.path;
};

export const createMerchant: FormAction = async (parts, _, { name = '' }) => {
  await addMerchant(parts, name);
  return PLACES.keys.path;
};

export const addFault: FormAction = async (parts, _, fields) => {
  setFault(parts, parseInput(FaultRule, faultRule(fields)));
  return PLACES.faults.path;
};

export const removeFaults: FormAction = async (parts, _, { route, identifier, from }) => {
  clearFaults(parts, route || undefined, { identifier: identifier || undefined });
  return ownPage(from, PLACES.faults.path);
};

export const changeClock: FormAction = async (parts, _, { move = '', by, at, from }) => {
  const { now, nextDue } = parts.clock.read();
  const moves: Record<string, object> = {
    advance: { advance: by },
    next: { advance: atLeast((nextDue ?? now) - now) },
    freeze: { freeze: at?.trim() || 'now' },
    resume: { resume: true },
  };
  await moveClock(parts, parseInput(ClockInput, Object.hasOwn(moves, move) ? (moves[move] ?? {}) : {}));
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
