import { curlCommand } from '../../../contract/curl.ts';
import { originWord } from '../../../contract/describe-delivery.ts';
import { command } from '../../../contract/error.ts';
import { duration, span } from '../../../contract/time.ts';
import type { Attempt, Delivery } from '../../../domain/state.ts';
import { attemptId } from '../../../usecases/story.ts';
import { deliveryView } from '../../control/views.ts';
import type { AppDependencies } from '../../environment.ts';
import { More, Section, Time } from './blocks.tsx';
import { attemptSides, BothSides } from './exchange.tsx';
import { Form } from './forms.tsx';
import { recordPath } from './paths.ts';

/** Maximum number of attempts shown, each with its request and response. */
const SHOWN_ATTEMPTS = 20;

/**
 * Shows attempts as a row of dots. The newest is open unless the URL names another. Works without a script.
 *
 * @param props `judged`: the delivery whose last attempt the verdict above explains
 */
export function Attempts(props: {
  deliveries: readonly Delivery[];
  judged: string | null;
  parts: AppDependencies;
}) {
  const { deliveries, judged, parts } = props;
  const all = deliveries
    .flatMap((delivery) => {
      const attempts = parts.ipns.attemptsOf(delivery.id);
      return attempts.map((attempt, index) => ({ delivery, attempt, before: attempts[index - 1] }));
    })
    .sort((one, other) => Date.parse(one.attempt.startedAt) - Date.parse(other.attempt.startedAt));
  const due = deliveries.filter(({ id, nextAttemptAt }) => nextAttemptAt !== null || parts.ipns.underWay(id));
  if (all.length + due.length === 0) return null;
  const newest = all.at(-1);
  return (
    <Section id="attempts" title="IPN attempts">
      <More
        id="earlier"
        count={all.length - SHOWN_ATTEMPTS}
        run={command('ipn show', all[0]?.delivery.id ?? '')}
        of="attempts"
      />
      <ol class="dots">
        {all.slice(-SHOWN_ATTEMPTS).map((one) => (
          <MadeAttempt
            {...one}
            isNewest={one === newest}
            isOne={deliveries.length === 1}
            isJudged={one.delivery.id === judged && one.attempt.number === one.delivery.attemptCount}
            parts={parts}
          />
        ))}
        {due.map((delivery) => (
          <DueAttempt delivery={delivery} parts={parts} />
        ))}
      </ol>
    </Section>
  );
}

/** The width of a wait in pixels, on a logarithmic scale, so that both 1 s and 10 min are visible. */
const gapOf = (milliseconds: number) => Math.round(8 * Math.log10(1 + milliseconds));

/**
 * An attempt that was made.
 *
 * @param props `before`: the previous attempt of the same delivery; `isOne`: whether all are of one delivery; `isJudged`:
 *   whether the verdict explains it
 */
function MadeAttempt(props: {
  delivery: Delivery;
  attempt: Attempt;
  before: Attempt | undefined;
  isNewest: boolean;
  isOne: boolean;
  isJudged: boolean;
  parts: AppDependencies;
}) {
  const { delivery, attempt, before, isNewest, isOne, isJudged, parts } = props;
  const { number, durationMs, startedAt } = attempt;
  const id = attemptId(delivery.id, number);
  const wait =
    before && Math.max(0, Date.parse(startedAt) - Date.parse(before.startedAt) - before.durationMs);
  const { tone, cause } = parts.ipns.verdictOnAttempt(delivery, attempt);
  return (
    <li id={id} class={isNewest ? 'chosen' : undefined}>
      <a class={`dot ${tone}`} href={`#${id}`}>
        {wait !== undefined && <svg class="gap" width={gapOf(wait)} height="2" aria-hidden="true" />}
        <span>
          <span class="unseen">IPN attempt {number}: </span>
          {attempt.responseStatus ?? 'no response'}
          {parts.ipns.verdictOnForgery(delivery) && <small>forged</small>}
          {wait !== undefined && [
            <small>{originWord(attempt)}</small>,
            ' ',
            <small>after {duration(wait)}</small>,
          ]}
        </span>
      </a>
      <div class="details" data-attempt={number}>
        <p>
          <strong class={tone}>Attempt {number}</strong>
          {isJudged ? ' ' : `: ${cause} `}
          <span class="soft">
            Took {duration(durationMs)}, at <Time at={startedAt} zone />
            {!isOne && [', IPN ', <code>{delivery.id}</code>]}
          </span>
        </p>
        <BothSides
          id={id}
          name={`of attempt ${number}`}
          {...attemptSides(attempt)}
          curl={curlCommand({ ...deliveryView(delivery, parts), attempts: [attempt] })}
        />
      </div>
    </li>
  );
}

/** The next attempt. If the clock was moved, a button skips the wait. */
function DueAttempt({ delivery, parts }: { delivery: Delivery; parts: AppDependencies }) {
  const { id, paymentId, attemptCount, nextAttemptAt } = delivery;
  const { now, frozen, ahead } = parts.clock.read();
  const underWay = parts.ipns.underWay(id);
  const left = Math.max(0, Date.parse(nextAttemptAt ?? '') - now);
  const step = attemptId(id, attemptCount + 1);
  return (
    <li id={step} class={attemptCount === 0 ? 'chosen' : undefined}>
      <a class="dot due" href={`#${step}`}>
        {attemptCount > 0 && !underWay && (
          <svg class="gap" width={gapOf(left)} height="2" aria-hidden="true" />
        )}
        <span>
          {underWay ? 'waiting' : 'due'}
          <small>attempt {attemptCount + 1}</small>
        </span>
      </a>
      <div class="details">
        {underWay ? (
          <p>Waiting up to {underWay.timeoutMs / 1_000} s for the response.</p>
        ) : (
          <p>
            Due in <span data-left={frozen ? undefined : Math.ceil(left / 1_000)}>{span(left)}</span>.
          </p>
        )}
        {!underWay && paymentId !== null && (frozen || ahead !== 0) && (
          <Form
            to={`${recordPath('payments', paymentId)}/run`}
            hidden={{ ipn: id, attempt: String(attemptCount + 1) }}
            submit="Run until this attempt"
            look="primary"
          />
        )}
      </div>
    </li>
  );
}
