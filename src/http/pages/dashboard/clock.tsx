import { timestamp } from '../../../contract/timestamp.ts';
import type { AppParts } from '../../environment.ts';
import { FactsBox, Section, Time } from './blocks.tsx';
import { Action, ButtonForm, Field, Hidden, Submit } from './forms.tsx';
import { PLACES } from './navigation.ts';
import { type PageRenderer, pageAt } from './page.ts';
import { span } from './text.ts';

export const clockPage: PageRenderer = ({ parts, given }) => {
  const read = parts.clock.read();
  const { path } = PLACES.clock;
  return pageAt(
    'clock',
    <>
      <h1>Clock</h1>
      <FactsBox
        id="time"
        label="Time"
        rows={[
          ['Now (UTC)', <Time at={timestamp(read.now)} runs={!read.frozen} />],
          ['Time', read.frozen ? 'stands still' : 'runs'],
          ['Against real time', againstReal(read.ahead)],
          ['Next due (UTC)', <NextDue {...read} />],
        ]}
      />
      <Section id="move" title="Move it">
        <p class="soft">
          Forward only. What falls due on the way runs, in order, before the page comes back.
        </p>
        <Action to={path} label="Advance">
          <Hidden values={{ move: 'advance' }} />
          <Field name="by" label="Advance by" value={given['by'] ?? '1h'} hint="30s, 10m, 2h" required />
          <Submit>Advance</Submit>
        </Action>
        <Action to={path} label="Freeze">
          <Hidden values={{ move: 'freeze' }} />
          <Field
            name="at"
            label="Stand still at"
            value={given['at'] ?? 'now'}
            hint="2027-01-01T00:00:00Z"
            required
          />
          <Submit look="plain">Freeze</Submit>
        </Action>
        <div class="inline" id="moves">
          {read.nextDue !== null && (
            <ButtonForm to={path} send={['move', 'next']} name="Run what is due next" />
          )}
          {read.frozen && <ButtonForm to={path} send={['move', 'resume']} name="Resume" />}
        </div>
      </Section>
    </>,
  );
};

function NextDue({ now, frozen, nextDue }: ReturnType<AppParts['clock']['read']>) {
  if (nextDue === null) return 'nothing waits';
  return (
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
  );
}

function againstReal(ahead: number): string {
  const seconds = Math.round(ahead / 1_000);
  if (seconds === 0) return 'the same';
  return `${span(Math.abs(seconds) * 1_000)} ${ahead > 0 ? 'ahead' : 'behind'}`;
}
