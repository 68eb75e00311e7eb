import type { Delivery } from '../domain/state.ts';
import type { AppParts } from './environment.ts';

/** A delivery that keeps failing is no mere `pending`: how often it did, and when it is tried next. */
export function retrying(delivery: Delivery, { state, clock }: AppParts) {
  const failures = state.current.attemptsOf(delivery.id).filter(({ failure }) => failure !== null);
  const last = failures.at(-1);
  if (delivery.state !== 'pending' || !last || delivery.nextAttemptAt === null) return undefined;
  const seconds = Math.max(0, Math.round((Date.parse(delivery.nextAttemptAt) - clock.now()) / 1_000));
  const wait = seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  const times = `×${failures.length}`;
  return {
    brief: `retrying ${times}`,
    text: `retrying · ${last.responseStatus ?? 'no answer'} ${times} · next in ${wait}`,
  };
}
