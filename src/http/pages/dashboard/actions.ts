import { ClockInput } from '../../../contract/clock.ts';
import { FaultRule } from '../../../contract/fault.ts';
import { parseInput } from '../../../contract/input.ts';
import { SettleInput } from '../../../contract/payment.ts';
import type { CardAction } from '../../../contract/vocabulary.ts';
import { requireCard } from '../../../domain/card.ts';
import { defaultMerchant, requireMerchant } from '../../../domain/merchant.ts';
import { requireDelivery } from '../../../domain/resend.ts';
import { requireTampering } from '../../../wire/compose.ts';
import { moveClock } from '../../control/clock.ts';
import { clearFaults, setFault } from '../../control/faults.ts';
import { addMerchant, replaceKeys } from '../../control/merchants.ts';
import type { AppContext, AppParts } from '../../environment.ts';
import type { FormValues } from './blocks.tsx';
import { PLACES, UI } from './navigation.ts';

/** What a form does; gives the address that the browser goes to. */
export type FormAction = (c: AppContext, fields: FormValues) => Promise<string>;

/** All that the forms of the dashboard do. */
export function actionsOf(parts: AppParts) {
  return { ...paymentActions(parts), ...cardActions(parts), ...simulatorActions(parts) };
}

const idOf = (c: AppContext) => c.req.param('id') ?? '';

function paymentActions({ gateway }: AppParts) {
  return {
    settle: async (c, { outcome, delivery }) => {
      const input = parseInput(SettleInput, { outcome, ...(delivery && { delivery }) });
      const { payment } = await gateway.settle(idOf(c), { ...input, by: 'control' });
      return `${UI}/payments/${payment.id}`;
    },
    resend: async (c, { to, from }) => {
      const sent = await gateway.resend(idOf(c), to || undefined);
      const page = `${PLACES.ipns.path}/${sent.id}`;
      const back = ownPage(from, page);
      // What came of it is looked for where the press was, not at the top.
      return to || back === page ? `${page}#send` : `${back}#${sent.id}`;
    },
    tamper: async (c, { tamper = '' }) => {
      const { paymentId, url } = requireDelivery(gateway.state, idOf(c));
      const [fired] = await gateway.fire({
        ...(paymentId !== null && { payment: paymentId }),
        to: url,
        tamper: requireTampering(tamper),
      });
      return `${PLACES.ipns.path}/${fired?.id ?? idOf(c)}`;
    },
  } satisfies Record<string, FormAction>;
}

function cardActions({ gateway, cards }: AppParts) {
  const pathOf = (id: string) => `${PLACES.cards.path}/${id}`;
  return {
    createCard: async (_, { merchant, ...fields }) => {
      const { state } = gateway;
      const owner = merchant ? requireMerchant(state, merchant) : defaultMerchant(state);
      return pathOf((await cards.issue(owner, { fields })).id);
    },
    moveCard: (kind: 'charge' | 'fund'): FormAction => {
      return async (c, { amount = '', details }) => {
        await cards.move(idOf(c), kind, { amount: amount.trim(), ...(details && { details }) });
        return pathOf(idOf(c));
      };
    },
    applyCardAction: (trigger: CardAction): FormAction => {
      return async (c) => {
        const { merchantId } = requireCard(gateway.state, idOf(c));
        await cards.trigger(requireMerchant(gateway.state, merchantId), idOf(c), trigger);
        return pathOf(idOf(c));
      };
    },
  } satisfies Record<string, FormAction | ((kind: never) => FormAction)>;
}

function simulatorActions(parts: AppParts) {
  const { gateway, clock } = parts;
  return {
    generateKeys: async (_, { merchant }) => {
      await replaceKeys(parts, merchant || defaultMerchant(gateway.state).id);
      return PLACES.keys.path;
    },
    addMerchant: async (_, { name = '' }) => {
      await addMerchant(parts, name);
      return PLACES.keys.path;
    },
    setFault: async (_, fields) => {
      setFault(parts, parseInput(FaultRule, faultRule(fields)));
      return PLACES.faults.path;
    },
    clearFaults: async (_, { route, identifier, from }) => {
      clearFaults(parts, route || undefined, { identifier: identifier || undefined });
      return ownPage(from, PLACES.faults.path);
    },
    moveClock: async (_, { move = '', by, at, from }) => {
      const { now, nextDue } = clock.read();
      const moves: Record<string, object> = {
        advance: { advance: by },
        next: { advance: atLeast((nextDue ?? now) - now) },
        freeze: { freeze: at?.trim() || 'now' },
        resume: { resume: true },
      };
      await moveClock(parts, parseInput(ClockInput, Object.hasOwn(moves, move) ? (moves[move] ?? {}) : {}));
      return ownPage(from, PLACES.clock.path);
    },
  } satisfies Record<string, FormAction>;
}

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
