import type * as zod from 'zod/mini';
import type * as api from '../src/api.ts';
import type { STRUCTURES } from '../src/contract/configuration.ts';
import type { FaultRule } from '../src/contract/fault.ts';
import type { DeliveryOrder, Tampering } from '../src/contract/vocabulary.ts';
import type * as state from '../src/domain/state.ts';
import type { DeliveryQuery, FireInput } from '../src/http/control/ipns.ts';
import type { PaymentQuery, SettleInput } from '../src/http/control/payments.ts';
import type * as client from '../src/library/control-client.ts';
import type { StartOptions } from '../src/options.ts';
import type { RecordedRequest } from '../src/usecases/event-log.ts';

/*
 * The public types are written by hand, so that nothing of the inside shows in them. This file does not run: `tsc`
 * refuses it as soon as one of them says something else than the inside does.
 */

/** Only true fits: anything else is a drift. */
type Holds<Claim extends true> = Claim;
/** The same keys, and each fits where the other is wanted. */
type Same<One, Other> = [One, keyof One, Other, keyof Other] extends [Other, keyof Other, One, keyof One]
  ? true
  : false;
/** Whatever the public type lets through, the inside takes, and it knows no other fields. */
type Taken<Public, Inside> = [Public, keyof Inside] extends [Inside, keyof Public] ? true : false;

type Input<Schema extends zod.ZodMiniType> = zod.input<Schema>;
/** The parts of an option that the table of options leaves to a schema. */
type Structures = { [Name in keyof typeof STRUCTURES]: zod.input<(typeof STRUCTURES)[Name]> };
type Structured = keyof Structures | 'faults';
type Given<Name extends Structured> = NonNullable<api.StartGatewaySimOptions[Name]>;

export type Drift = [
  Holds<Same<api.DeliveryOrder, DeliveryOrder>>,
  Holds<Same<api.Payment, client.PaymentView>>,
  Holds<Same<api.TimelineEntry, client.TimelineEntry>>,
  Holds<Same<api.Delivery, client.DeliveryView>>,
  Holds<Same<api.Attempt, client.DeliveryView['attempts'][number]>>,
  Holds<Same<api.Card, client.CardView>>,
  Holds<Same<api.CardTransaction, state.CardTransaction>>,
  Holds<Same<api.Wallet, state.Wallet>>,
  Holds<Same<api.Merchant, state.Merchant>>,
  Holds<Same<api.InboxMessage, client.InboxMessage>>,
  Holds<Same<api.RecordedRequest, RecordedRequest>>,
  Holds<Same<api.FaultRule, FaultRule>>,
  Holds<Same<api.ClockReading, client.ClockView>>,
  Holds<Taken<api.SettleOptions & { outcome: api.PaymentOutcome }, Input<typeof SettleInput>>>,
  Holds<Same<keyof api.FireOptions, keyof Input<typeof FireInput>>>,
  Holds<Same<api.FireOptions['tamper'], Tampering | undefined>>,
  Holds<Same<keyof api.PaymentFilter, Exclude<keyof Input<typeof PaymentQuery>, 'limit' | 'cursor'>>>,
  Holds<Same<keyof api.DeliveryFilter, Exclude<keyof Input<typeof DeliveryQuery>, 'limit' | 'cursor'>>>,
  Holds<Same<keyof api.StartGatewaySimOptions, keyof StartOptions>>,
  Holds<Taken<Given<'charges'>, Structures['charges']>>,
  Holds<Taken<Given<'currencies'>[number], Structures['currencies'][number]>>,
  Holds<Taken<Given<'wallets'>[number], Structures['wallets'][number]>>,
  Holds<Taken<Given<'outcomes'>[number], Structures['outcomes'][number]>>,
  Holds<Same<Omit<api.StartGatewaySimOptions, Structured>, Omit<StartOptions, Structured>>>,
];
