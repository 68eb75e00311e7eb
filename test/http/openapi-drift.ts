import type { InferResponseType } from 'hono/client';
import type * as zod from 'zod/mini';
import type { FaultView } from '../../src/http/control/faults.ts';
import type { SimEventView } from '../../src/http/control/watch.ts';
import type { ErrorBody } from '../../src/http/errors.ts';
import type { CONTROL_ANSWERS } from '../../src/http/openapi/answers.ts';
import type { SERVICE_ANSWERS } from '../../src/http/openapi/service-answers.ts';
import type { ControlClient } from '../../src/library/control-client.ts';
import type { cardRecord, transactionRecord } from '../../src/wire/card-records.ts';
import type { InitiateAnswer } from '../../src/wire/initiate.ts';
import type { IpnFields } from '../../src/wire/ipn.ts';

/*
 * What the routes answer, held against what the OpenAPI document says of it. This file does not run: `tsc` refuses it
 * as soon as a view has a field more, less or other than its schema.
 */

/** Only true fits: anything else is a drift. */
type Holds<Claim extends true> = Claim;
/** Lists that may not be written to count as lists, a tuple as one whatever its parts are called. */
type Plain<T> = T extends readonly [infer A, infer B]
  ? [Plain<A>, Plain<B>]
  : T extends readonly (infer Item)[]
    ? Plain<Item>[]
    : T extends object
      ? { [Key in keyof T]: Plain<T[Key]> }
      : T;
type Equal<One, Other> =
  (<T>() => T extends One ? 1 : 2) extends <T>() => T extends Other ? 1 : 2 ? true : false;
type Same<One, Other> = Equal<Plain<One>, Plain<Other>>;

type Control = typeof CONTROL_ANSWERS;
type Service = typeof SERVICE_ANSWERS;
/** What the schema of that name says. */
type Said<Name extends keyof Control> = zod.output<Control[Name]>;
type SaidOfService<Name extends keyof Service> = zod.output<Service[Name]>;

/** What a route answers, as the typed client knows it. */
type Answered<Route extends Request> = InferResponseType<Route>;
type Request = (...input: never[]) => Promise<{ json(): Promise<unknown> }>;
type C = ControlClient;

export type Drift = [
  Holds<Same<Answered<C['payments']['$get']>, Said<'PaymentList'>>>,
  Holds<Same<Answered<C['payments'][':ref']['$get']>, Said<'PaymentWithTimeline'>>>,
  Holds<Same<Answered<C['payments'][':ref']['settle']['$post']>, Said<'Settled'>>>,
  Holds<Same<Answered<C['ipns']['$get']>, Said<'DeliveryList'>>>,
  Holds<Same<Answered<C['ipns'][':id']['$get']>, Said<'Delivery'>>>,
  Holds<Same<Answered<C['ipns'][':id']['resend']['$post']>, Said<'Delivery'>>>,
  Holds<Same<Answered<C['ipns']['$post']>, Said<'Delivery'> | Said<'DeliveryBatch'>>>,
  Holds<Same<Answered<C['cards']['$get']>, Said<'CardList'>>>,
  Holds<Same<Answered<C['cards'][':id']['$get']>, Said<'CardWithTransactions'>>>,
  Holds<Same<Answered<C['cards'][':id']['transactions']['$post']>, Said<'CardMovement'>>>,
  Holds<Same<Answered<C['merchants']['$get']>, Said<'MerchantList'>>>,
  Holds<Same<Answered<C['merchants']['$post']>, Said<'Merchant'>>>,
  Holds<Same<Answered<C['merchants'][':id']['keys']['$post']>, Said<'Merchant'>>>,
  Holds<Same<Answered<C['wallets']['$get']>, Said<'WalletList'>>>,
  Holds<Same<Answered<C['wallets'][':id']['fund']['$post']>, Said<'Wallet'>>>,
  Holds<Same<Answered<C['clock']['$get']>, Said<'Clock'>>>,
  Holds<Same<Answered<C['clock']['$post']>, Said<'Clock'>>>,
  Holds<Same<Answered<C['faults']['$get']>, Said<'FaultList'>>>,
  Holds<Same<Answered<C['faults']['$post']>, Said<'Fault'>>>,
  Holds<Same<Answered<C['faults']['$put']>, Said<'FaultList'>>>,
  Holds<Same<Answered<C['faults']['$delete']>, Said<'ClearedFaults'>>>,
  Holds<Same<FaultView, Said<'Fault'>>>,
  Holds<Same<Answered<C['inbox']['$get']>, Said<'MessageList'>>>,
  Holds<Same<Answered<C['requests']['$get']>, Said<'RequestList'>>>,
  Holds<Same<Answered<C['reset']['$post']>, Said<'Counted'>>>,
  Holds<Same<Answered<C['snapshot']['$put']>, Said<'Counted'>>>,
  Holds<Same<Answered<C['shutdown']['$post']>, Said<'Stopping'>>>,
  Holds<Same<Omit<Answered<C['status']['$get']>, 'options'>, Omit<Said<'Status'>, 'options'>>>,
  Holds<Same<keyof Answered<C['status']['$get']>['options'], keyof Said<'Options'>>>,
  Holds<Same<SimEventView, Said<'SimEvent'>>>,
  Holds<Same<keyof ErrorBody, keyof Said<'ControlError'>>>,
  Holds<Same<NonNullable<ErrorBody['code']>, Said<'ControlError'>['code']>>,
  Holds<Same<InitiateAnswer, SaidOfService<'InitiateAnswer'>>>,
  Holds<Same<IpnFields, SaidOfService<'Ipn'>>>,
  Holds<Same<ReturnType<typeof cardRecord>, SaidOfService<'VirtualCard'>>>,
  Holds<Same<ReturnType<typeof transactionRecord>, SaidOfService<'VirtualCardTransaction'>>>,
];
