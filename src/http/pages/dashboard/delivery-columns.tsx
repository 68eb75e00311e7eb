import type { Delivery, State } from '../../../domain/state.ts';
import { standing } from '../../diagnosis.ts';
import type { AppParts } from '../../environment.ts';
import { Status, Time } from './blocks.tsx';
import { Form } from './forms.tsx';
import { recordPath } from './page.tsx';
import { type Column, column } from './table.tsx';
import { describeAttempt } from './timeline.tsx';

/** @param from the page to come back to; with `ofOne` all are of one payment, whose identifier tells nothing apart */
export function deliveryColumns(parts: AppParts, from: string, ofOne = false): Column<Delivery>[] {
  const state = parts.state.current;
  const { now } = parts.clock.read();
  return [
    column('IPN', (delivery) => <DeliveryLink delivery={delivery} ofOne={ofOne} />, { head: true }),
    column('State', (delivery) => <Standing delivery={delivery} state={state} now={now} />),
    column('Attempts', ({ attemptCount }) => attemptCount, { label: 'Attempts' }),
    column('Last', (delivery) => <Last delivery={delivery} state={state} />, { kind: 'long' }),
    column('To', (delivery) => <To delivery={delivery} parts={parts} />, { kind: 'address' }),
    column('Action', ({ id }) => (
      <Form to={`${recordPath('ipns', id)}/resend`} hidden={{ from }} submit="Resend" />
    )),
  ];
}

/** A delivery that keeps failing is no mere `pending`. */
function Standing({ delivery, state, now }: { delivery: Delivery; state: State; now: number }) {
  const retrying = standing(delivery, state.attemptsOf(delivery.id), now);
  return retrying === undefined ? <Status of={delivery.state} /> : <span class="retrying">{retrying}</span>;
}

function To({ delivery, parts }: { delivery: Delivery; parts: AppParts }) {
  const forwardedTo = parts.ipns.forwardedTo(delivery);
  if (forwardedTo === null) return <code>{delivery.url}</code>;
  return (
    <>
      <span class="soft">forwarded to</span> <code>{forwardedTo}</code>
    </>
  );
}

function DeliveryLink({ delivery, ofOne }: { delivery: Delivery; ofOne: boolean }) {
  const { id, identifier, status } = delivery;
  return (
    <>
      <a href={recordPath('ipns', id)}>{ofOne ? id : identifier}</a>
      {!ofOne && <span class="soft below">{id}</span>}
      {status !== 'success' && <span class="soft below">carries {status}</span>}
    </>
  );
}

function Last({ delivery, state }: { delivery: Delivery; state: State }) {
  const last = state.attemptsOf(delivery.id).at(-1);
  return (
    <>
      {last ? describeAttempt(last) : (delivery.note ?? 'not attempted yet')}
      {delivery.nextAttemptAt !== null && (
        <span class="soft below">
          next at <Time at={delivery.nextAttemptAt} zone />
        </span>
      )}
    </>
  );
}
