import { curlCommand } from '../../../contract/curl.ts';
import { duration, span } from '../../../contract/duration.ts';
import { command } from '../../../contract/hint.ts';
import type { Attempt, Delivery } from '../../../domain/state.ts';
import { attemptId } from '../../../usecases/story.ts';
import { deliveryView } from '../../control/views.ts';
import type { AppParts } from '../../environment.ts';
import { More, Section, Time } from './blocks.tsx';
import { Form } from './forms.tsx';
import { PLACES, recordPath } from './page.tsx';
import { attemptSides, BothSides, SHOWN_BODY } from './sides.tsx';

/** Maximum number of attempts shown, each with its request and response. */
const SHOWN = 20;

/** Shows attempts as a row of dots. The newest is open unless the URL names another. Works without a script. */
export function Attempts({ deliveries, parts }: { deliveries: readonly Delivery[]; parts: AppParts }) {
  const all = deliveries
    .flatMap((delivery) => {
      const attempts = parts.ipns.attemptsOf(delivery.id);
      return attempts.map((attempt, index) => ({ delivery, attempt, before: attempts[index - 1] }));
    })
    .sort((one, other) => Date.parse(one.attempt.startedAt) - Date.parse(other.attempt.startedAt));
  const due = deliveries.filter(({ id, nextAttemptAt }) => nextAttemptAt !== null || parts.ipns.underWay(id));
  if (all.length + due.length === 0) return null;
  const newest = all.at(-1)?.attempt;
  return (
    <Section id="attempts" title="IPN attempts">
      <More
        id="earlier"
        count={all.length - SHOWN}
        run={command('ipn show', all[0]?.delivery.id ?? '')}
        of="attempts"
      />
      <ol class="dots">
        {all.slice(-SHOWN).map((one) => (
          <li
            id={attemptId(one.delivery.id, one.attempt.number)}
            class={one.attempt === newest ? 'chosen' : undefined}
          >
            <Dot {...one} parts={parts} />
            <Details {...one} isOne={deliveries.length === 1} parts={parts} />
          </li>
        ))}
        {due.map((delivery) => (
          <Due delivery={delivery} parts={parts} />
        ))}
      </ol>
    </Section>
  );
}

interface AttemptProps {
  delivery: Delivery;
  attempt: Attempt;
  /** The previous attempt of the same delivery. */
  before: Attempt | undefined;
  parts: AppParts;
}

/** The width of a wait in pixels, on a logarithmic scale, so that both 1 s and 10 min are visible. */
const gapOf = (milliseconds: number) => Math.round(8 * Math.log10(1 + milliseconds));

function Dot({ delivery, attempt, before, parts }: AttemptProps) {
  const wait =
    before && Math.max(0, Date.parse(attempt.startedAt) - Date.parse(before.startedAt) - before.durationMs);
  const { tone } = parts.ipns.verdictOnAttempt(delivery, attempt);
  return (
    <a class={`dot ${tone}`} href={`#${attemptId(delivery.id, attempt.number)}`}>
      {wait !== undefined && <svg class="gap" width={gapOf(wait)} height="2" aria-hidden="true" />}
      <span>
        <span class="unseen">IPN attempt {attempt.number}: </span>
        {attempt.responseStatus ?? 'no response'}
        {parts.ipns.verdictOnForgery(delivery) && <small>forged</small>}
        {wait !== undefined && <small>after {duration(wait)}</small>}
      </span>
    </a>
  );
}

function Details(props: AttemptProps & { isOne: boolean }) {
  const { delivery, attempt, isOne, parts } = props;
  const { id } = delivery;
  const { number, durationMs, startedAt } = attempt;
  const { tone, cause } = parts.ipns.verdictOnAttempt(delivery, attempt);
  return (
    <div class="details" data-attempt={number}>
      <p>
        <strong class={tone}>Attempt {number}</strong>: {cause}{' '}
        <span class="soft">
          Took {duration(durationMs)}, at <Time at={startedAt} zone />
          {!isOne && (
            <>
              , IPN <a href={recordPath('ipns', id)}>{id}</a>
            </>
          )}
        </span>
      </p>
      <BothSides
        id={attemptId(id, number)}
        name={`of attempt ${number}`}
        {...attemptSides(attempt)}
        curl={curlCommand({ ...deliveryView(delivery, parts), attempts: [attempt] })}
        limit={SHOWN_BODY}
      />
    </div>
  );
}

/** The next attempt. If the clock was moved, a button skips the wait. */
function Due({ delivery, parts }: { delivery: Delivery; parts: AppParts }) {
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
        {!underWay && !frozen && ahead === 0 && (
          <p class="soft">
            Pause or move the <a href={PLACES.clock.path}>clock</a> to run this attempt without waiting.
          </p>
        )}
      </div>
    </li>
  );
}
