import { duration } from '../../../contract/duration.ts';
import type { Step } from '../../../usecases/story.ts';
import { Section } from './blocks.tsx';
import { WIDTH } from './time-scale.ts';

const LANE = 10;

/** The first IPN and the redirect on a scale of their own: a success page must work whichever comes first. */
export function Race({ steps }: { steps: readonly Step[] }) {
  const settled = steps.find(({ event }) => event === 'settled');
  const attempt = steps.find(({ event }) => event === 'ipn_attempted');
  const redirect = steps.find(({ event }) => event === 'redirected');
  if (!settled || !attempt || !redirect) return null;
  const begin = settled.at;
  const length = Math.max(attempt.end, redirect.at) - begin || 1;
  const x = (instant: number) => Math.min(((instant - begin) / length) * WIDTH, WIDTH - 8);
  return (
    <Section id="race" title="IPN and redirect">
      <p>{winner(attempt, redirect)}</p>
      <div class="lanes">
        <span>IPN</span>
        <svg viewBox={`0 0 ${WIDTH} ${LANE}`} preserveAspectRatio="none" aria-hidden="true">
          <rect
            class={`bar-ipn ${attempt.ipn?.attempt?.error ? 'bad' : ''}`}
            x={x(attempt.at)}
            width={Math.max(8, x(attempt.end) - x(attempt.at))}
            height={LANE}
          />
        </svg>
        <span>Redirect</span>
        <svg viewBox={`0 0 ${WIDTH} ${LANE}`} preserveAspectRatio="none" aria-hidden="true">
          <rect class="bar-line" y={LANE / 2 - 0.5} width={x(redirect.at)} height={1} />
          <rect class="bar-browser" x={x(redirect.at)} width={8} height={LANE} />
        </svg>
        <span class="soft">settled</span>
        <span class="soft end">+{duration(length)}</span>
      </div>
    </Section>
  );
}

/** Instants are whole milliseconds: what lies closer is decided by what waited for what. */
function winner(attempt: Step, redirect: Step): string {
  const ahead = redirect.at - attempt.end;
  if (redirect.at === attempt.at && ahead <= -1) return 'Both fell on one instant: the clock was paused.';
  if (ahead > -1) {
    const by = ahead < 1 ? 'less than a millisecond' : duration(ahead);
    return `The IPN came first: its attempt ended ${by} before the redirect.`;
  }
  const how =
    redirect.at < attempt.at
      ? `${duration(attempt.at - redirect.at)} before the IPN`
      : `${duration(-ahead)} before your receiver had answered the IPN`;
  return `The redirect came first, ${how}: your success page must not expect the order to be paid yet.`;
}
