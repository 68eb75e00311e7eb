import { timestamp } from '../contract/timestamp.ts';
import type { Courier } from '../delivery/courier.ts';
import type { RandomBytes } from '../domain/ids.ts';
import type { Context, Settings } from '../domain/settings.ts';
import type { Store } from '../store/store.ts';
import type { Clock } from '../system/clock.ts';
import type { EventLog } from './event-log.ts';

/** What the use cases work with. */
export interface UseCaseParts {
  store: Store;
  clock: Clock;
  courier: Courier;
  settings: Settings;
  context: () => Context;
  /** Never seeded: keys are made of it. */
  random: RandomBytes;
  events: EventLog;
}

/** Reports something about the emulator itself in the log. */
export function notice({ clock, events }: Pick<UseCaseParts, 'clock' | 'events'>, text: string): void {
  events.notice(timestamp(clock.now()), text);
}
