import { describeBriefly } from '../../../contract/describe-delivery.ts';
import { duration } from '../../../contract/duration.ts';
import { PAYMENT_STATUSES, type PaymentStatus } from '../../../contract/vocabulary.ts';
import type { Attempt, State } from '../../../domain/state.ts';
import { type FormValues, listPath } from './page.tsx';
import { grouped } from './text.ts';

/** Of the bar and of its axis below it, in pixels. */
const BAR = { height: 10, axis: 14 };
/** A smaller share is drawn, but is no link: nobody could hit it, and the counts beside it are links too. */
const HIT = 0.04;

/** How many payments stand how, as one bar over percents; a segment leads to its payments. */
export function OutcomeBar(props: { counts: Readonly<Record<PaymentStatus, number>>; query: FormValues }) {
  const { counts, query } = props;
  const total = PAYMENT_STATUSES.reduce((sum, status) => sum + counts[status], 0);
  const percent = (count: number) => `${((count / total) * 100).toFixed(2)}%`;
  let sum = 0;
  const segments = PAYMENT_STATUSES.filter((status) => counts[status] > 0).map((status) => {
    sum += counts[status];
    const words = `${Math.round((counts[status] / total) * 100)} % ${status}: ${grouped(counts[status])}`;
    return { status, words, x: percent(sum - counts[status]), width: percent(counts[status]) };
  });
  return (
    <nav class="bar roomy" aria-label="Shares by status">
      <svg width="100%" height={BAR.height + BAR.axis}>
        <title>Shares by status</title>
        <g class="axis">
          {[0, 25, 50, 75, 100].map((at) => (
            <text
              x={`${at}%`}
              y={BAR.height + BAR.axis}
              class={at === 0 ? 'from' : at === 100 ? 'to' : undefined}
            >
              {at} %
            </text>
          ))}
        </g>
        {segments.map(({ status, words, x, width }) => {
          const segment = <rect class={`c-${status}`} x={x} width={width} height={BAR.height} />;
          if (counts[status] < total * HIT) return segment;
          return (
            <a href={listPath('payments', { ...query, status, cursor: undefined })}>
              <title>{words}</title>
              <rect class="hit" x={x} width={width} height={BAR.height + BAR.axis} />
              {segment}
              <text class="value" x="50%" y={BAR.height + BAR.axis}>
                {words}
              </text>
            </a>
          );
        })}
      </svg>
    </nav>
  );
}

/** Maximum attempts that are drawn; fewer are not drawn wider. */
const SLOTS = 10;
const HEIGHT = 48;
/** In milliseconds, with what the axis says of them. */
const TICKS = [
  [10, '10 ms'],
  [100, '100 ms'],
  [1_000, '1 s'],
  [10_000, '10 s'],
] as const;

/** On a logarithmic scale, of which the last tick is the end: 1 ms is as visible as 10 s. */
function heightOf(milliseconds: number): number {
  return Math.min(HEIGHT, 4 + (Math.log10(1 + milliseconds) / 4) * (HEIGHT - 4));
}

/** How long the last attempts took, oldest first; each leads to its IPN in the list. */
export function DeliveryTimes({ state }: { state: State }) {
  const attempts = state.attempts.page(SLOTS, undefined, () => true).data.toReversed();
  if (attempts.length === 0) return null;
  const times = attempts.map(({ durationMs }) => durationMs).sort((a, b) => a - b);
  const median = duration(times[Math.floor(times.length / 2)] ?? 0);
  const failed = attempts.filter(({ failure }) => failure !== null).length;
  return (
    <figure id="ipn-times" class="box chart">
      <figcaption class="soft">
        Last {attempts.length} attempts: median {median}, slowest {duration(times.at(-1) ?? 0)}, {failed}{' '}
        failed
      </figcaption>
      <a class="skip" href="#ipns">
        Skip the chart
      </a>
      <div class="plot">
        <svg width="100%" height={HEIGHT} aria-hidden="true">
          {TICKS.map(([milliseconds, words]) => {
            const y = HEIGHT - heightOf(milliseconds);
            return (
              <>
                <line x1={44} x2="100%" y1={y} y2={y} />
                <text x={38} y={y + 4}>
                  {words}
                </text>
              </>
            );
          })}
        </svg>
        <ol aria-label="Times of the last attempts, oldest first">
          {attempts.map((attempt) => (
            <Bar attempt={attempt} />
          ))}
        </ol>
      </div>
    </figure>
  );
}

function Bar({ attempt }: { attempt: Attempt }) {
  const { deliveryId, durationMs, responseStatus, failure } = attempt;
  return (
    <li>
      <a href={listPath('ipns', { text: deliveryId })}>
        <svg aria-hidden="true">
          <rect
            class={failure === null ? 'c-delivered' : 'c-failed'}
            height={heightOf(durationMs).toFixed()}
          />
        </svg>
        <span class="value">
          {duration(durationMs)}, {responseStatus ?? describeBriefly(attempt)}
        </span>
      </a>
    </li>
  );
}
