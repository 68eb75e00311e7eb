import { ClockInput, parseInstant } from '../../../contract/clock.ts';
import { GatewayError } from '../../../contract/error.ts';
import { parseInput } from '../../../contract/input.ts';
import { span, timestamp } from '../../../contract/time.ts';
import type { Upcoming } from '../../../usecases/clock.ts';
import type { AppParts } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { type Column, FactsBox, Section, Table, Time } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type NounPages, type PageRenderer, pageAt } from './page.tsx';
import { PER_PAGE, PLACES, recordPath } from './paths.ts';
import { againstReal } from './text.ts';

type Reading = ReturnType<AppParts['clock']['read']>;
const { path } = PLACES.clock;

const clockPage: PageRenderer = ({ parts }) => {
  const read = parts.clock.read();
  const upcoming = parts.clock.upcoming(PER_PAGE + 1);
  const facts = [
    ['Now (UTC)', <Time at={timestamp(read.now)} runs={!read.frozen} />],
    ['Time', read.frozen ? 'paused' : 'running'],
    ['Real time', againstReal(read.ahead)],
  ] as const;
  return pageAt(
    'clock',
    <>
      <h1>Clock</h1>
      <FactsBox id="time" label="Time" rows={facts}>
        <Moves {...read} />
      </FactsBox>
      <Section id="queue" title="Scheduled">
        <Table
          id="queue-list"
          label="Scheduled events, soonest first"
          columns={columnsAt(read)}
          rows={upcoming.slice(0, PER_PAGE)}
          keyOf={(one) => ({ 'data-key': one.what === 'attempt' ? one.delivery.id : one.payment.id })}
          none="Nothing scheduled."
        />
        {upcoming.length > PER_PAGE && <p class="soft">Only the first {PER_PAGE} are shown.</p>}
      </Section>
    </>,
  );
};

function Moves({ frozen, nextDue }: Reading) {
  return (
    <>
      <div class="inline" id="moves">
        <Form to={path} send={['move', frozen ? 'resume' : 'freeze']} submit={frozen ? 'Resume' : 'Pause'} />
        <Form to={path} hidden={{ advance: '1m' }} send={['move', 'advance']} submit="+1 min" />
        <Form to={path} hidden={{ advance: '1h' }} send={['move', 'advance']} submit="+1 h" />
        {nextDue !== null && <Form to={path} send={['move', 'next']} submit="Run next scheduled event" />}
        <Form to={path} label="Advance" hidden={{ move: 'advance' }} submit="Advance" inline>
          <Field name="advance" label="Advance by" value="10m" required placeholder="30s, 10m, 2h" />
        </Form>
      </div>
      <p class="soft">
        The clock only moves forward. Events that come due run in order before the page reloads.
      </p>
    </>
  );
}

/** Each event has a button that advances the clock to it. */
function columnsAt(reading: Reading): Column<Upcoming>[] {
  return [
    ['Event', 'head', (one) => <Event of={one} />],
    ['At (UTC)', 'plain', ({ at }) => <Time at={timestamp(at)} />],
    ['In', 'plain', ({ at }) => <Left until={at} {...reading} />, 'in'],
    [
      'Action',
      'plain',
      (one) => (
        <Form
          to={path}
          hidden={{ move: 'until', at: timestamp(one.at) }}
          submit="Run until here"
          about={identifierOf(one)}
        />
      ),
    ],
  ];
}

const identifierOf = (one: Upcoming): string =>
  one.what === 'attempt' ? one.delivery.identifier : one.payment.identifier;

function Event({ of }: { of: Upcoming }) {
  const path =
    of.what === 'attempt' ? recordPath('ipns', of.delivery.id) : recordPath('payments', of.payment.id);
  return (
    <>
      <Link href={path}>{identifierOf(of)}</Link> <span class="soft below">{describeEvent(of)}</span>
    </>
  );
}

function describeEvent(of: Upcoming): string {
  if (of.what === 'attempt') return `IPN, attempt ${of.delivery.attemptCount + 1}`;
  return of.outcome === 'expire' ? 'expires' : `settles automatically: ${of.outcome}`;
}

/** Shows the time until an instant. It counts down while the clock runs. */
function Left({ until, now, frozen }: { until: number } & Pick<Reading, 'now' | 'frozen'>) {
  const left = until - now;
  if (left <= 0) return 'now';
  return <span data-left={frozen ? undefined : Math.ceil(left / 1_000)}>{span(left)}</span>;
}

export const CLOCK_PAGES: NounPages = {
  pages: { [path]: clockPage },
  forms: {
    [PLACES.clock.path]: async ({ clock }, { move = '', advance, freeze = '', at = '' }) => {
      const { now, nextDue } = clock.read();
      const moves: Record<string, () => object> = {
        advance: () => ({ advance }),
        until: () => ({ advance: atLeast(requireInstant(at) - now) }),
        next: () => ({ advance: atLeast((nextDue ?? now) - now) }),
        freeze: () => ({ freeze: freeze.trim() || 'now' }),
        resume: () => ({ resume: true }),
      };
      await clock.move(parseInput(ClockInput, Object.hasOwn(moves, move) ? moves[move]?.() : {}));
    },
  },
};

function requireInstant(at: string): number {
  const instant = parseInstant(at);
  if (instant !== undefined) return instant;
  throw new GatewayError(
    'invalid_fields',
    'at must be a time with a time zone, such as 2027-01-01T00:00:00Z',
  );
}

/** Writes a duration, rounded up. Durations have at most nine digits, so long ones are in seconds. */
export function atLeast(milliseconds: number): string {
  const whole = Math.max(0, Math.ceil(milliseconds));
  return whole < 1e9 ? `${whole}ms` : `${Math.ceil(whole / 1_000)}s`;
}
