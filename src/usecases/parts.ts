import type { FaultRule } from '../contract/fault.ts';
import type { Courier } from '../delivery/courier.ts';
import type { Preparation } from '../domain/bootstrap.ts';
import type { Faults } from '../domain/faults.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { Context, Settings } from '../domain/settings.ts';
import type { Snapshot } from '../store/snapshot.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';
import type { EventLog } from './event-log.ts';

/** What the use cases work with. */
export interface UseCaseParts {
  store: Store;
  clock: Clock;
  courier: Courier;
  settings: Settings;
  /** @param requestId of the request that causes what follows */
  context: (requestId?: number) => Context;
  /** Never seeded: keys are made of it. */
  random: RandomBytes;
  events: EventLog;
  faults: Faults;
  /** What this server started with. */
  initial: () => Promise<Snapshot>;
  preparation: Preparation;
  firstFaults: readonly FaultRule[];
  /** With a seed: goes on with other ids than those that the new state may hold. */
  renewIds: () => void;
}
