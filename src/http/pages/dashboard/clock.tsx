import { timestamp } from '../../../contract/timestamp.ts';
import type { AppParts } from '../../environment.ts';
import { FactsBox, Section, Time } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type PageRenderer, PLACES, pageAt } from './page.tsx';
import { span } from './text.ts';

export const clockPage: PageRenderer = ({ parts }) => {
  const read = parts.clock.read();
  const { path } = PLACES.clock;
  const facts = [
    ['Now (UTC)', <Time at={timestamp(read.now)} runs={!read.frozen} />],
    ['Time', read.frozen ? 'stands still' : 'runs'],
    ['Against real time', againstReal(read.ahead)],
    ['Next due (UTC)', <NextDue {...read} />],
  ] as const;
  return pageAt(
    'clock',
    <>
      <h1>Clock</h1>
      <FactsBox id="time" label="Time" rows={facts} />
      <Section id="move" title="Move it">
        <p class="soft">
          Forward only. What falls due on the way runs, in order, before the page comes back.
        </p>
        <Form to={path} label="Advance" hidden={{ move: 'advance' }} submit="Advance" look="primary">
          <Field name="by" label="Advance by" value="1h" required placeholder="30s, 10m, 2h" />
        </Form>
        <Form to={path} label="Freeze" hidden={{ move: 'freeze' }} submit="Freeze">
          <Field name="at" label="Stand still at" value="now" required placeholder="2027-01-01T00:00:00Z" />
        </Form>
        <div class="inline" id="moves">
          {read.nextDue !== null && <Form to={path} send={['move', 'next']} submit="Run what is due next" />}
          {read.frozen && <Form to={path} send={['move', 'resume']} submit="Resume" />}
        </div>
      </Section>
    </>,
  );
};

function NextDue({ now, frozen, nextDue }: ReturnType<AppParts['clock']['read']>) {
  if (nextDue === null) return 'nothing waits';
  const left = nextDue - now;
  return (
    <>
      <Time at={timestamp(nextDue)} />
      {left > 0 && (
        <>
          , in <span data-left={frozen ? undefined : Math.ceil(left / 1_000)}>{span(left)}</span>
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
