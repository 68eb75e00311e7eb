import { command } from '../../../contract/hint.ts';
import { DELIVERY_STATES } from '../../../contract/vocabulary.ts';
import type { Attempt, Delivery, State } from '../../../domain/state.ts';
import { CommandCode, Status, Time } from './blocks.tsx';
import { DeliveryTimes } from './chart.tsx';
import { Form } from './forms.tsx';
import { listPage } from './list-page.tsx';
import { recordPath } from './navigation.ts';
import { type Column, column } from './table.tsx';
import { answerTo } from './timeline.tsx';

/** Maximum attempts in the chart. */
const CHARTED = 60;

export const ipnsPage = listPage<Delivery>({
  place: 'ipns',
  noun: 'IPN',
  filter: {
    choices: [['state', DELIVERY_STATES]],
    texts: ['identifier', 'id', 'paymentId', 'url'],
    hint: 'identifier, address',
  },
  chart: ({ state }) => {
    const { data } = state.current.attempts.page(CHARTED, undefined, () => true);
    return (
      data.length > 0 && (
        <div id="ipn-times" class="box">
          <DeliveryTimes attempts={data.toReversed()} />
        </div>
      )
    );
  },
  records: ({ state }) => state.current.deliveries,
  columns: ({ state }, from) => deliveryColumns(state.current, from),
  keyOf: ({ id }) => ({ id }),
  start: (parts) => {
    const url = parts.runtime.baseUrl();
    const listen = command('ipn listen', '--url', url, '--port 3000');
    const fire = command('ipn fire', '--url', url, '--to http://localhost:3000/ipn --amount 49.90');
    return (
      <>
        <p>Settling a payment sends one. This receives and checks them:</p>
        <CommandCode id="listen" run={listen} does="receives IPNs" />
        <p>And this makes one by hand:</p>
        <CommandCode id="fire" run={fire} does="makes an IPN" />
      </>
    );
  },
});

/**
 * The columns of deliveries, each with the button that sends it once more.
 *
 * @param from the page that it is on, and to come back to
 * @param ofOne all are of one payment, whose identifier would not tell them apart
 */
export function deliveryColumns(state: State, from: string, ofOne = false): Column<Delivery>[] {
  return [
    column('IPN', (delivery) => <DeliveryLink delivery={delivery} ofOne={ofOne} />, { head: true }),
    column('State', (delivery) => <Status of={delivery.state} />),
    column('Attempts', ({ attemptCount }) => attemptCount, { label: 'Attempts' }),
    column('Last', (delivery) => <Last delivery={delivery} state={state} />, { kind: 'long' }),
    column('To', ({ url }) => <code>{url}</code>, { kind: 'address' }),
    column('Action', ({ id }) => (
      <Form to={`${recordPath('ipns', id)}/resend`} hidden={{ from }} submit="Resend" />
    )),
  ];
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

/** How an attempt ended, and how long that took. */
export function describeAttempt(attempt: Attempt): string {
  return `${answerTo(attempt)} (${Math.round(attempt.durationMs)}\u00a0ms)`;
}
