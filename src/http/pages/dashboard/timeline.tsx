import type { TimelineEntry } from '../../../contract/payment.ts';
import { TIMELINE_EVENTS } from '../../../contract/vocabulary.ts';
import type { Attempt } from '../../../domain/state.ts';
import { Section, Time } from './blocks.tsx';
import { recordPath } from './page.tsx';

/** Maximum steps shown. */
const STEPS = 100;

type Entries = [TimelineEntry, ...TimelineEntry[]];

/** What happened to a payment, step by step; with one IPN only, its id says nothing. */
export function Timeline({ steps, hasOneIpn }: { steps: readonly TimelineEntry[]; hasOneIpn: boolean }) {
  return (
    <Section id="story" title={['Timeline ', <span class="soft">UTC</span>]}>
      {steps.length > STEPS && <p class="soft">{steps.length - STEPS} earlier steps are not shown.</p>}
      <ol class="timeline">
        {folded(steps.slice(-STEPS)).map((entries) => (
          <Step entries={entries} isAlone={hasOneIpn} />
        ))}
      </ol>
    </Section>
  );
}

/** Attempts of one delivery that end alike, one after the other, are one step. */
function folded(steps: readonly TimelineEntry[]): Entries[] {
  const groups: Entries[] = [];
  let before = '';
  for (const step of steps) {
    const end = step.attempt ? `${step.deliveryId} ${answerTo(step.attempt)}` : '';
    if (end && end === before) groups.at(-1)?.push(step);
    else groups.push([step]);
    before = end;
  }
  return groups;
}

export function answerTo({ error, responseStatus }: Pick<Attempt, 'error' | 'responseStatus'>): string {
  return error ?? `answered ${responseStatus}`;
}

export function describeAttempt(attempt: Attempt): string {
  return `${answerTo(attempt)} (${Math.round(attempt.durationMs)}\u00a0ms)`;
}

function Step({ entries, isAlone }: { entries: Entries; isAlone: boolean }) {
  const [{ at, event, detail, deliveryId, attempt }] = entries;
  const last = entries.at(-1)?.attempt;
  const mark = event === 'ipn_due' ? 'due' : attempt?.error ? 'failed' : undefined;
  if (deliveryId === null) {
    return (
      <li class={mark}>
        <Time at={at} precise />
        <strong>{TIMELINE_EVENTS[event]}</strong> {detail}
      </li>
    );
  }
  return (
    <li class={mark}>
      <Time at={at} precise />
      <a href={recordPath('ipns', deliveryId)}>
        <strong>
          {TIMELINE_EVENTS[event]} {attempt?.number}
          {attempt && last && last.number !== attempt.number && ` to ${last.number}`}
        </strong>
      </a>
      {attempt && `: ${answerTo(attempt)}`}
      {!isAlone && <span class="soft"> {deliveryId}</span>}
    </li>
  );
}
