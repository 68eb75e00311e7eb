import { timestamp } from '../../../domain/settings.ts';
import type { AppParts } from '../../environment.ts';
import { Action, Facts, Field, type FormValues, Time } from './blocks.tsx';
import { PLACES } from './navigation.ts';
import { span } from './text.ts';

/** The page of the emulator's time. */
export function ClockPage({ parts, given }: { parts: AppParts; given: FormValues }) {
  const { now, frozen, ahead, nextDue } = parts.clock.read();
  return (
    <>
      <h1>Clock</h1>
      <section class="box" aria-label="Time" id="time">
        <Facts
          rows={[
            ['Now (UTC)', <Time at={timestamp(now)} runs={!frozen} />],
            ['Time', frozen ? 'stands still' : 'runs'],
            ['Against real time', againstReal(ahead)],
            [
              'Next due (UTC)',
              nextDue === null ? (
                'nothing waits'
              ) : (
                <>
                  <Time at={timestamp(nextDue)} />
                  {nextDue > now && (
                    <>
                      , in{' '}
                      <span data-left={frozen ? undefined : Math.ceil((nextDue - now) / 1_000)}>
                        {span(nextDue - now)}
                      </span>
                    </>
                  )}
                </>
              ),
            ],
          ]}
        />
      </section>
      <section class="box" id="move" aria-labelledby="move-name">
        <h2 id="move-name">Move it</h2>
        <p class="soft">
          Forward only. What falls due on the way runs, in order, before the page comes back.
        </p>
        <Action to={PLACES.clock.path} label="Advance">
          <input type="hidden" name="move" value="advance" />
          <Field name="by" label="Advance by" value={given['by'] ?? '1h'} hint="30s, 10m, 2h" required />
          <button type="submit">Advance</button>
        </Action>
        <Action to={PLACES.clock.path} label="Freeze">
          <input type="hidden" name="move" value="freeze" />
          <Field
            name="at"
            label="Stand still at"
            value={given['at'] ?? 'now'}
            hint="2027-01-01T00:00:00Z"
            required
          />
          <button type="submit" class="plain">
            Freeze
          </button>
        </Action>
        <div class="inline" id="moves">
          {nextDue !== null && (
            <Action to={PLACES.clock.path} inline>
              <button type="submit" name="move" value="next" class="plain">
                Run what is due next
              </button>
            </Action>
          )}
          {frozen && (
            <Action to={PLACES.clock.path} inline>
              <button type="submit" name="move" value="resume" class="plain">
                Resume
              </button>
            </Action>
          )}
        </div>
      </section>
    </>
  );
}

function againstReal(ahead: number): string {
  const seconds = Math.round(ahead / 1_000);
  if (seconds === 0) return 'the same';
  return `${span(Math.abs(seconds) * 1_000)} ${ahead > 0 ? 'ahead' : 'behind'}`;
}
