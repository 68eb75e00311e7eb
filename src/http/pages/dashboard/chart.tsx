import { PAYMENT_STATUSES, type PaymentStatus } from '../../../contract/vocabulary.ts';
import type { State } from '../../../domain/state.ts';

const WIDTH = 600;
const HEIGHT = 44;
/** Maximum attempts that are drawn; fewer are not drawn wider. */
const SLOTS = 60;

/** How many payments stand how, as one bar; the words are its legend, beside it. */
export function OutcomeBar({ counts }: { counts: Readonly<Record<PaymentStatus, number>> }) {
  const total = PAYMENT_STATUSES.reduce((sum, status) => sum + counts[status], 0);
  let x = 0;
  return (
    <svg class="bar" viewBox={`0 0 ${WIDTH} 1`} preserveAspectRatio="none" aria-hidden="true">
      {PAYMENT_STATUSES.map((status) => {
        const width = (counts[status] / total) * WIDTH;
        x += width;
        return <rect class={`c-${status}`} x={x - width} y={0} width={width} height={1} />;
      })}
    </svg>
  );
}

/** How long the last attempts took, oldest first, on a logarithmic scale: 1 ms is as visible as 10 s. */
export function DeliveryTimes({ state }: { state: State }) {
  const attempts = state.attempts.page(SLOTS, undefined, () => true).data.toReversed();
  if (attempts.length === 0) return null;
  const times = attempts.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  const median = shown(times[Math.floor(times.length / 2)]);
  const failed = attempts.filter(({ error }) => error !== null).length;
  const step = WIDTH / SLOTS;
  const words = `${attempts.length} attempts: median ${median}, slowest ${shown(times.at(-1))}, ${failed} failed`;
  return (
    <div id="ipn-times" class="box">
      <figure class="chart">
        <svg
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          role="img"
          aria-label={`Times of the last ${words}`}
        >
          {attempts.map(({ durationMs, error }, index) => {
            const height = Math.min(HEIGHT, 4 + (Math.log10(1 + durationMs) / 4) * (HEIGHT - 4));
            const look = error === null ? 'c-delivered' : 'c-failed';
            return (
              <rect class={look} x={index * step + 1} y={HEIGHT - height} width={step - 2} height={height} />
            );
          })}
        </svg>
        <figcaption class="soft">Last {words}</figcaption>
      </figure>
    </div>
  );
}

function shown(milliseconds = 0): string {
  return milliseconds >= 1_000
    ? `${(milliseconds / 1_000).toFixed(1)} s`
    : `${milliseconds.toFixed(milliseconds < 10 ? 1 : 0)} ms`;
}
