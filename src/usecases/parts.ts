import type { FaultRule } from '../contract/fault.ts';
import type { Courier } from '../delivery/courier.ts';
import type { Preparation } from '../domain/bootstrap.ts';
import type { Faults } from '../domain/faults.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { Context, Settings } from '../domain/settings.ts';
import type { Snapshot } from '../store/snapshot.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { EventLog } from './event-log.ts';
import type { VerdictParts } from './verdict.ts';

/** What the use cases work with. */
export interface UseCaseParts {
  store: Store;
  clock: Clock;
  courier: Courier;
  dialect: Pick<Dialect, 'verify'>;
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

/** What verdicts are made of, as of now. */
export function verdictParts({ store, courier, dialect, settings }: UseCaseParts): VerdictParts {
  return { state: store.state, dialect, settings, underWay: (id) => courier.underWay.get(id) };
}
