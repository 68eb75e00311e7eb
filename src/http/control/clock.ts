import { Clock, ClockInput, parseInstant } from '../../contract/clock.ts';
import { parseDuration } from '../../contract/duration.ts';
import { GatewayError } from '../../contract/error.ts';
import { command, hint, option } from '../../contract/hint.ts';
import { timestamp } from '../../domain/settings.ts';
import type { MoveResult, Clock as SystemClock } from '../../system/clock.ts';
import type { AppParts } from '../environment.ts';
import { control } from './route.ts';
import { clockView } from './views.ts';

const TAG = 'Control: clock';

/** Routes of `/_sim/clock`. */
export function clockRoutes(parts: AppParts) {
  return [
    control('GET /clock', { tag: TAG, summary: "The emulator's time", answer: Clock }, () =>
      clockView(parts.clock.read()),
    ),
    control(
      'POST /clock',
      {
        tag: TAG,
        summary: 'Advance, freeze or resume time',
        description: 'Answers when what fell due on the way has run.',
        body: ClockInput,
        answer: Clock,
        errors: [504],
      },
      ({ body }) => moveClock(parts, body),
    ),
  ] as const;
}

/** No clock goes further: every wait that begins then still ends in a year of four digits (chosen). */
const LATEST = Date.UTC(9999, 0, 1);

/**
 * Moves the clock and says so in the log.
 *
 * @throws GatewayError `invalid_fields` for what would go backwards, `timed_out` when what fell due takes too long
 */
export async function moveClock({ clock, activity }: AppParts, input: ClockInput): Promise<Clock> {
  await move(clock, input);
  const view = clockView(clock.read());
  activity.notice(view.now, `the clock ${view.frozen ? 'stands still' : 'goes on'} at ${view.now}`);
  return view;
}

async function move(clock: SystemClock, { advance, freeze }: ClockInput): Promise<void> {
  if (advance !== undefined) {
    const milliseconds = parseDuration(advance) ?? 0;
    requireReachable('advance', clock.now() + milliseconds);
    report(await clock.advance(milliseconds), 'advance', clock);
  } else if (freeze !== undefined) {
    const at = freeze === 'now' ? undefined : parseInstant(freeze);
    requireReachable('freeze', at ?? 0);
    report(await clock.freeze(at), 'freeze', clock);
  } else await clock.resume();
}

function requireReachable(field: string, at: number): void {
  if (at <= LATEST) return;
  throw new GatewayError('invalid_fields', `${field} must not lead beyond ${timestamp(LATEST)}`);
}

function report(moved: MoveResult, field: string, clock: SystemClock): void {
  const now = timestamp(clock.now());
  if (moved === 'past') {
    throw new GatewayError(
      'invalid_fields',
      `${field} must not move the clock backwards: it stands at ${now}`,
      {
        hint: hint`A fresh emulator starts at real time again: ${command('start')}.`,
      },
    );
  }
  if (moved === 'late') {
    throw new GatewayError('timed_out', `what is due takes long: the clock got as far as ${now}`, {
      hint: hint`Move it again for the rest; a receiver that never answers costs its whole ${option('ipnTimeout')}.`,
    });
  }
}
