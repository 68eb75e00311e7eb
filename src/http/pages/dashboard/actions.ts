import { AuditRequest } from '../../../contract/audit-report.ts';
import { ClockInput, parseInstant } from '../../../contract/clock.ts';
import { GatewayError } from '../../../contract/error.ts';
import { FaultRule } from '../../../contract/fault.ts';
import { FAULT_EFFECT_NAMES, FAULT_EFFECTS, type FaultMember } from '../../../contract/fault-effects.ts';
import { parseInput } from '../../../contract/input.ts';
import { SettleInput } from '../../../contract/payment.ts';
import { requireTamperings } from '../../../contract/tampering.ts';
import { CARD_ACTIONS, CARD_MOVEMENTS } from '../../../contract/vocabulary.ts';
import { FundInput } from '../../../contract/wallet.ts';
import { attemptId } from '../../../usecases/story.ts';
import type { CallService } from '../../call-service.ts';
import type { AppParts } from '../../environment.ts';
import { requirePreset } from './fault-presets.ts';
import { RESEND_SELECTED } from './ipns.tsx';
import { ADD_MERCHANT } from './keys.tsx';
import { createPayment, NEW_PAYMENT } from './new-payment.tsx';
import { type FormValues, ownPage, PLACES, recordPath, recordRoute } from './paths.ts';
import { replay } from './requests.tsx';
import { FUND, walletRow } from './wallets.tsx';

/**
 * Handles a submitted form.
 *
 * @param id the record in the path
 * @returns the path to redirect to; undefined for the page that the form names in `from`, or the page above the form
 */
type FormAction = (
  parts: AppParts,
  fields: FormValues,
  id: string,
  callService: CallService,
) => Promise<string | undefined>;

const PAYMENT = recordRoute('payments');
const IPN = recordRoute('ipns');
const CARD = recordRoute('cards');
const REQUEST = recordRoute('requests');
const { ipns, cards, wallets, keys, audit, faults, clock, settings } = PLACES;

/** Every form, by the path that it posts to. The page above this path shows it again if it is rejected. */
export const FORMS: Readonly<Record<string, FormAction>> = {
  [NEW_PAYMENT]: async (parts, fields, _, callService) =>
    recordPath('payments', await createPayment(parts, fields, callService)),
  [`${PAYMENT}/settle`]: async ({ payments }, { outcome, delivery }, id) => {
    const input = parseInput(SettleInput, { outcome, ...(delivery && { delivery }) });
    await payments.settle(id, { ...input, by: 'control' });
  },
  [`${PAYMENT}/run`]: async ({ payments, ipns, clock }, { ipn = '', attempt = '' }, id) => {
    const payment = payments.require(id);
    const { paymentId, nextAttemptAt, attemptCount } = ipns.require(ipn);
    if (paymentId !== payment.id) throw new GatewayError('not_found', `${ipn} is not an IPN of this payment`);
    // A second click, for example in another tab, must not run one more attempt.
    if (nextAttemptAt !== null && attemptCount < Number(attempt)) {
      await clock.move({ advance: atLeast(Date.parse(nextAttemptAt) - clock.now()) });
    }
    return `${recordPath('payments', payment.id)}#${attemptId(ipn, Number(attempt))}`;
  },
  [`${IPN}/resend`]: async ({ ipns }, { to, from }, id) => {
    const sent = await ipns.resend(id, to || undefined);
    const page = recordPath('ipns', sent.id);
    const back = ownPage(from, page);
    // Scrolls to where the button was, because the user expects the result there.
    if (to || back === page) return `${page}#send`;
    const [path] = back.split('?', 1);
    const isStory = sent.paymentId !== null && path === recordPath('payments', sent.paymentId);
    return `${back}#${isStory ? attemptId(sent.id, sent.attemptCount) : sent.id}`;
  },
  [RESEND_SELECTED]: async ({ ipns: { resend } }, { from, ...selected }) => {
    const ids = Object.keys(selected);
    if (!ids.length) throw new GatewayError('invalid_fields', 'no IPN is selected: select at least one');
    const results = await Promise.allSettled(ids.map((id) => resend(id)));
    const delivered = results.filter((one) => one.status === 'fulfilled' && one.value.state === 'delivered');
    const back = new URL(ownPage(from, ipns.path), 'http://localhost');
    back.searchParams.set('resent', `${delivered.length} of ${ids.length}`);
    return back.pathname + back.search;
  },
  [`${IPN}/tamper`]: async ({ ipns }, { tamper = '' }, id) => {
    const { paymentId, url } = ipns.require(id);
    const payment = paymentId === null ? {} : { payment: paymentId };
    const [fired] = await ipns.fire({ ...payment, to: url, tamper: requireTamperings(tamper) });
    return recordPath('ipns', fired?.id ?? id);
  },
  [`${REQUEST}/replay`]: async (parts, _, id, callService) =>
    recordPath('requests', await replay(parts, id, callService)),
  [cards.path]: async ({ cards, dialect, merchants }, { merchant, ...fields }) => {
    const owner = merchant ? merchants.require(merchant) : merchants.default;
    return recordPath('cards', (await cards.issue(owner, dialect.readCard({ fields, text: '' }))).id);
  },
  ...byName(CARD, CARD_MOVEMENTS, (kind) => async ({ cards }, { amount = '', details }, id) => {
    await cards.move(id, kind, { amount: amount.trim(), ...(details && { details }) });
  }),
  ...byName(CARD, CARD_ACTIONS, (action) => async ({ cards, merchants }, _, id) => {
    await cards.apply(merchants.require(cards.require(id).merchantId), id, action);
  }),
  [FUND]: async ({ wallets: { fund } }, { amount = '', from }, id) => {
    await fund(id, parseInput(FundInput, { amount: amount.trim() }).amount);
    return `${ownPage(from, wallets.path)}#${walletRow(id)}`;
  },
  [keys.path]: async ({ merchants }, { merchant }) => {
    await merchants.replaceKeys(merchant || merchants.default.id);
  },
  [ADD_MERCHANT]: async ({ merchants }, { name = '' }) => {
    await merchants.add(name);
  },
  [audit.path]: async ({ audits }, { ipnUrl = '', only, skip, ...fields }) => {
    const texts = Object.entries(fields).map(([name, value]) => [name, value?.trim() || undefined]);
    const names = { only: namesIn(only), skip: namesIn(skip) };
    const request = { ...Object.fromEntries(texts), ipnUrl: ipnUrl.trim(), ...names };
    await audits.start(parseInput(AuditRequest, request));
  },
  [`${audit.path}/stop`]: async ({ audits }) => {
    await audits.stop();
  },
  [`${faults.path}/preset`]: async ({ faults }, { preset }) => {
    faults.set(requirePreset(preset).rule);
  },
  ...byName(faults.path, FAULT_EFFECT_NAMES, (effect) => async ({ faults }, { route, ...fields }) => {
    const { kind }: FaultMember = FAULT_EFFECTS[effect];
    const { times, identifier } = fields;
    const rule = {
      route,
      [effect]: kind === 'on' || writtenValue(kind, fields[effect]),
      ...(times && { times: writtenValue('integer', times) }),
      ...(identifier && { identifier }),
    };
    faults.set(parseInput(FaultRule, rule));
  }),
  [`${faults.path}/clear`]: async ({ faults }, { route, identifier }) => {
    faults.clear(route || undefined, { identifier: identifier || undefined });
  },
  [`${settings.path}/reset`]: async ({ state }, { confirm }) => {
    requireTyped('reset', confirm);
    await state.reset();
    return PLACES.payments.path;
  },
  [`${settings.path}/import`]: async ({ state }, { confirm, state: text = '' }) => {
    requireTyped('import', confirm);
    await state.restore(Buffer.from(text));
    return PLACES.payments.path;
  },
  [clock.path]: async ({ clock }, { move = '', advance, freeze = '', at = '' }) => {
    const { now, nextDue } = clock.read();
    const moves: Record<string, () => object> = {
      advance: () => ({ advance }),
      until: () => ({ advance: atLeast(requireInstant(at) - now) }),
      next: () => ({ advance: atLeast((nextDue ?? now) - now) }),
      freeze: () => ({ freeze: freeze.trim() || 'now' }),
      resume: () => ({ resume: true }),
    };
    await clock.move(parseInput(ClockInput, Object.hasOwn(moves, move) ? moves[move]?.() : {}));
  },
};

/** Requires the user to type a word before an action that cannot be undone. @throws GatewayError `invalid_fields` */
function requireTyped(word: string, typed = ''): void {
  if (typed.trim().toLowerCase() === word) return;
  throw new GatewayError('invalid_fields', `confirm must be the word ${word}`);
}

function byName<Name extends string>(page: string, names: readonly Name[], act: (name: Name) => FormAction) {
  return Object.fromEntries(names.map((name) => [`${page}/${name}`, act(name)]));
}

/** Converts an integer to a number. The schema reports invalid values. */
function writtenValue(kind: FaultMember['kind'], written = ''): string | number {
  return kind === 'integer' && /^\d{1,10}$/.test(written.trim()) ? Number(written) : written.trim();
}

function namesIn(text = ''): string[] | undefined {
  const names = text.split(/[\s,]+/).filter(Boolean);
  return names.length ? names : undefined;
}

function requireInstant(at: string): number {
  const instant = parseInstant(at);
  if (instant !== undefined) return instant;
  throw new GatewayError(
    'invalid_fields',
    'at must be a time with a time zone, such as 2027-01-01T00:00:00Z',
  );
}

/** Writes a duration, rounded up. Durations have at most nine digits, so long ones are in seconds. */
function atLeast(milliseconds: number): string {
  const whole = Math.max(0, Math.ceil(milliseconds));
  return whole < 1e9 ? `${whole}ms` : `${Math.ceil(whole / 1_000)}s`;
}
