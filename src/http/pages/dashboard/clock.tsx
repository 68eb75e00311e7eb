import { ClockInput, parseInstant } from '../../../contract/clock.ts';
import { GatewayError } from '../../../contract/error.ts';
import { parseInput } from '../../../contract/input.ts';
import { span, timestamp } from '../../../contract/time.ts';
import type { Upcoming } from '../../../usecases/clock.ts';
import type { AppDependencies } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { type Column, Section, Table, Time } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import type { FormAction } from './page.tsx';
import { CLOCK, docsPath, ipnPath, PER_PAGE, recordPath } from './paths.ts';
import { againstReal } from './text.ts';

type Reading = ReturnType<AppDependencies['clock']['read']>;

/** Shows and moves the time, and lists what is scheduled. */
export function Clock({ parts }: { parts: AppDependencies }) {
  const read = parts.clock.read();
  const upcoming = parts.clock.upcoming(PER_PAGE + 1);
  return (
    <>
      <Section id="time" title="Clock">
        <p class="inline">
          <Time at={timestamp(read.now)} runs={!read.frozen} zone />
          <span class="soft">
            {read.frozen ? 'paused' : 'running'}. {againstReal(read.ahead)}.
          </span>
        </p>
        <Moves {...read} />
      </Section>
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
    </>
  );
}

function Moves({ frozen, ahead, nextDue }: Reading) {
  return (
    <>
      <div class="inline" id="moves">
        <Form to={CLOCK} send={['move', frozen ? 'resume' : 'freeze']} submit={frozen ? 'Resume' : 'Pause'} />
        <Form to={CLOCK} hidden={{ advance: '1m' }} send={['move', 'advance']} submit="+1 min" />
        <Form to={CLOCK} hidden={{ advance: '1h' }} send={['move', 'advance']} submit="+1 h" />
        {nextDue !== null && <Form to={CLOCK} send={['move', 'next']} submit="Run next scheduled event" />}
        {Math.round(ahead / 1_000) !== 0 && (
          <Form to={CLOCK} send={['move', 'reset']} submit="Back to real time" />
        )}
        <Form to={CLOCK} label="Advance" hidden={{ move: 'advance' }} submit="Advance" inline>
          <Field name="advance" label="Advance by" value="10m" required placeholder="30s, 10m, 2h" />
        </Form>
      </div>
      <p class="soft">
        Events that come due run in order before the page reloads.{' '}
        <Link href={docsPath('time.md')}>Documentation</Link>
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
          to={CLOCK}
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
  const path = of.what === 'attempt' ? ipnPath(of.delivery) : recordPath('payments', of.payment.id);
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

export const moveClock: FormAction = async ({ clock }, { move = '', advance, freeze = '', at = '' }) => {
  const { now, nextDue } = clock.read();
  const moves: Record<string, () => object> = {
    advance: () => ({ advance }),
    until: () => ({ advance: atLeast(requireInstant(at) - now) }),
    next: () => ({ advance: atLeast((nextDue ?? now) - now) }),
    freeze: () => ({ freeze: freeze.trim() || 'now' }),
    resume: () => ({ resume: true }),
    reset: () => ({ reset: true }),
  };
  await clock.move(parseInput(ClockInput, Object.hasOwn(moves, move) ? moves[move]?.() : {}));
  return undefined;
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
