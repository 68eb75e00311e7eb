import { duration } from '../../../contract/duration.ts';
import { command } from '../../../contract/hint.ts';
import { timestamp } from '../../../contract/timestamp.ts';
import { TIMELINE_EVENTS } from '../../../contract/vocabulary.ts';
import type { Payment } from '../../../domain/state.ts';
import type { Step } from '../../../usecases/story.ts';
import type { AppParts } from '../../environment.ts';
import { More, Section, Time } from './blocks.tsx';
import { StepDetails } from './story-step.tsx';

/** Maximum number of steps shown, counted from the first. */
const SHOWN = 60;

/** The steps of shop and customer, without IPN attempts. A link to a step opens it. */
export function Timeline(props: { steps: readonly Step[]; payment: Payment; parts: AppParts }) {
  const { steps, payment, parts } = props;
  const ofCheckout = steps.filter(({ ipn }) => !ipn);
  const begin = Date.parse(payment.createdAt);
  return (
    <Section
      id="story"
      title={[
        'Checkout ',
        <span class="soft">
          from <Time at={payment.createdAt} precise zone />
        </span>,
      ]}
    >
      <ol class="steps">
        {ofCheckout.slice(0, SHOWN).map((step) => (
          <li data-key={step.id}>
            <details open={step === ofCheckout[0] && ofCheckout.length === steps.length}>
              <summary>
                <time class="offset" datetime={timestamp(step.at)}>
                  +{step.at === begin ? '0 s' : duration(step.at - begin)}
                </time>
                <span class="what">
                  <strong class={REFUSALS.has(step.event) ? 'bad' : undefined}>{titleOf(step)}</strong>{' '}
                  <span class="soft">{detailOf(step)}</span>
                </span>
                <span class="took soft">{step.end > step.at && duration(step.end - step.at)}</span>
              </summary>
              <div class="details" id={step.id}>
                <StepDetails step={step} payment={payment} parts={parts} />
              </div>
            </details>
          </li>
        ))}
      </ol>
      <More
        id="show"
        count={ofCheckout.length - SHOWN}
        run={command('payments show', payment.id)}
        of="steps"
      />
    </Section>
  );
}

const REFUSALS: ReadonlySet<Step['event']> = new Set(['email_refused', 'code_refused']);

function titleOf({ id, event, request }: Step): string {
  if (event === 'requested') return `${request?.method} ${request?.target.split('?', 1)[0]}`;
  return event === 'opened' && id !== 'step-opened-1' ? 'Page shown again' : TIMELINE_EVENTS[event];
}

function detailOf({ event, detail, request, views = 1 }: Step): string {
  if (event === 'requested') return String(request?.status);
  return event === 'opened' && views > 1 ? `shown ${views} times` : (detail ?? '');
}
