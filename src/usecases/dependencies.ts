import type { Visit } from '../contract/payment.ts';
import type { Secrets } from '../contract/secrets.ts';
import type { Courier } from '../delivery/courier.ts';
import type { OrderProbe } from '../diagnosis/diagnose.ts';
import type { SeenRows } from '../diagnosis/seen-rows.ts';
import type { Preparation } from '../domain/bootstrap.ts';
import type { Faults } from '../domain/faults.ts';
import type { Context, Settings } from '../domain/settings.ts';
import type { Snapshot } from '../store/snapshot.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';
import type { RandomBytes } from '../system/random.ts';
import type { EventLog } from './event-log.ts';

export interface UseCaseDependencies {
  store: Store;
  clock: Clock;
  courier: Courier;
  settings: Settings;
  /** @param requestId the request that causes the change */
  context: (requestId?: number) => Context;
  /** Never seeded, because it generates keys. */
  random: RandomBytes;
  events: EventLog;
  secrets: Secrets;
  rows: SeenRows;
  /** Opens an address in place of the customer's browser, where the egress rules allow it. */
  visit: (url: string) => Promise<Visit>;
  orderProbe: OrderProbe;
  faults: Faults;
  /** The state that this server started with. */
  initial: () => Promise<Snapshot>;
  preparation: Preparation;
  /** With a seed, continues with ids that the new state does not use. */
  renewIds: () => void;
}
