import { describeFault, isSpent } from '../../../contract/active-fault.ts';
import { timestamp } from '../../../contract/timestamp.ts';
import type { AppParts } from '../../environment.ts';
import { Time } from './blocks.tsx';
import { Form } from './forms.tsx';
import { type Page, PLACES } from './page.tsx';
import { againstReal } from './text.ts';

export interface FrameProps {
  parts: AppParts;
  page: Page;
}

/** Active faults and a moved clock, on every page. */
export function Chips(props: FrameProps) {
  return (
    <div id="trouble">
      <FaultChip {...props} />
      <ClockChip {...props} />
    </div>
  );
}

function FaultChip({ parts, page: { path } }: FrameProps) {
  const faults = parts.faults.list.filter((fault) => !isSpent(fault)).map(describeFault);
  if (faults.length === 0) return null;
  return (
    <section class="chip" id="alarm-faults" aria-label="Faults">
      <a href={PLACES.faults.path} title={faults.slice(0, 20).join('\n')}>
        {faults.length === 1 ? '1 fault active' : `${faults.length} faults active`}
      </a>
      <code class="roomy">{faults[0]}</code>
      <Form to={`${PLACES.faults.path}/clear`} hidden={{ from: path }} submit="Clear all" />
    </section>
  );
}

/** The clock, if it was moved. */
function ClockChip({ parts, page: { path } }: FrameProps) {
  const { now, frozen, ahead } = parts.clock.read();
  if (!frozen && ahead === 0) return null;
  return (
    <section class="chip" id="alarm-clock" aria-label="Clock">
      <a href={PLACES.clock.path}>{frozen ? 'Clock is paused' : againstReal(ahead)}</a>
      <span class="roomy">
        {frozen && 'at '}
        <Time at={timestamp(now)} runs={!frozen} zone />
      </span>
      {frozen && (
        <Form to={PLACES.clock.path} hidden={{ from: path }} send={['move', 'resume']} submit="Resume" />
      )}
    </section>
  );
}
