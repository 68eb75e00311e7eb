import type { Delivery, State } from '../../../domain/state.ts';
import { standing } from '../../diagnosis.ts';
import type { AppParts } from '../../environment.ts';
import { Ago, Short, ShortLink, Status } from './blocks.tsx';
import { Form, Submit } from './forms.tsx';
import { recordPath } from './page.tsx';
import { type Column, column } from './table.tsx';
import { briefly } from './text.ts';
import { describeAttempt } from './timeline.tsx';

/** @param from the page to come back to; with `ofOne` all are of one payment, whose identifier tells nothing apart */
export function deliveryColumns(parts: AppParts, from: string, ofOne = false): Column<Delivery>[] {
  const state = parts.state.current;
  const { now } = parts.clock.read();
  const name = ({ id, identifier }: Delivery) => (ofOne ? id : identifier);
  return [
    column('IPN', (delivery) => <DeliveryLink delivery={delivery} name={name(delivery)} />, { head: true }),
    column('State', (delivery) => <Standing delivery={delivery} state={state} now={now} />, { kind: 'name' }),
    column('Last', (delivery) => <Last delivery={delivery} state={state} />, { kind: 'name' }),
    column('To', (delivery) => <To delivery={delivery} parts={parts} />, { kind: 'address' }),
    column('Created', ({ createdAt }) => <Ago at={createdAt} />, { kind: 'time' }),
    column(
      'Action',
      (delivery) => (
        <Form to={`${recordPath('ipns', delivery.id)}/resend`} inline>
          <Submit send={['from', from]}>
            Resend<span class="unseen"> IPN of {name(delivery)}</span>
          </Submit>
        </Form>
      ),
      { kind: 'action' },
    ),
  ];
}

/** A delivery that keeps failing is no mere `pending`. */
function Standing({ delivery, state, now }: { delivery: Delivery; state: State; now: number }) {
  const retrying = standing(delivery, state.attemptsOf(delivery.id), now);
  if (retrying === undefined) {
    const { state: stands, attemptCount } = delivery;
    return [<Status of={stands} />, attemptCount > 1 && <span class="soft"> ×{attemptCount}</span>];
  }
  return <span class="retrying">{retrying}</span>;
}

function To({ delivery, parts }: { delivery: Delivery; parts: AppParts }) {
  const forwardedTo = parts.ipns.forwardedTo(delivery);
  return (
    <>
      {forwardedTo !== null && <span class="soft">forwarded to </span>}
      <Short text={forwardedTo ?? delivery.url} />
    </>
  );
}

function DeliveryLink({ delivery: { id, status }, name }: { delivery: Delivery; name: string }) {
  return (
    <>
      <ShortLink to={recordPath('ipns', id)} text={name} />
      {status !== 'success' && <span class="soft">{status}</span>}
    </>
  );
}

/** A text of no more characters is not cut. */
const FITS = 30;

/** How the last attempt ended, without what only its page has room for. */
function Last({ delivery, state }: { delivery: Delivery; state: State }) {
  const last = state.attemptsOf(delivery.id).at(-1);
  if (!last) return delivery.note ?? 'not attempted yet';
  const text = describeAttempt({ ...last, error: last.error && briefly(last.error) });
  return text.length > FITS ? <span title={text}>{text}</span> : text;
}
