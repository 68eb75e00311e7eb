import { command } from '../../../contract/hint.ts';
import { DELIVERY_STATES } from '../../../contract/vocabulary.ts';
import type { Attempt, Delivery, State } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { CommandCode, Status, Time } from './blocks.tsx';
import { DeliveryTimes } from './chart.tsx';
import { Form } from './forms.tsx';
import { Empty, type Filter, FilterForm, listPage, matcher, NoMatch, queryOf } from './list-page.tsx';
import { listPath, PER_PAGE, recordPath } from './navigation.ts';
import type { PageRenderer } from './page.tsx';
import { type Column, column } from './table.tsx';
import { answerTo } from './timeline.tsx';

const FILTER: Filter<Delivery> = {
  choices: [{ name: 'state', label: 'State', options: DELIVERY_STATES }],
  texts: ({ identifier, id, paymentId, url }) => [identifier, id, paymentId ?? '', url],
  hint: 'identifier, address',
};

/** Maximum attempts in the chart. */
const CHARTED = 60;

export const ipnsPage: PageRenderer = ({ parts, c }) => {
  const { current: state } = parts.state;
  const query = queryOf(c, FILTER);
  const page = state.deliveries.page(PER_PAGE, query['cursor'], matcher(FILTER, query));
  const attempts = state.attempts.page(CHARTED, undefined, () => true).data.toReversed();
  const from = listPath('ipns', query);
  return listPage({
    place: 'ipns',
    query,
    tools: state.deliveries.size > 0 && (
      <>
        {attempts.length > 0 && (
          <div id="ipn-times" class="box">
            <DeliveryTimes attempts={attempts} />
          </div>
        )}
        <FilterForm place="ipns" filter={FILTER} query={query} />
      </>
    ),
    id: 'ipns',
    table: { id: 'ipn-list', label: 'IPNs, newest first', ...deliveryTable(state, from) },
    page,
    empty:
      state.deliveries.size > 0 ? <NoMatch id="no-ipn" what="IPN" place="ipns" /> : <NoIpns parts={parts} />,
  });
};

function NoIpns({ parts }: { parts: AppParts }) {
  const url = parts.runtime.baseUrl();
  const listen = command('ipn listen', '--url', url, '--port 3000');
  const fire = command('ipn fire', '--url', url, '--to http://localhost:3000/ipn --amount 49.90');
  return (
    <Empty id="no-ipn-yet" title="No IPN yet">
      <p>Settling a payment sends one. This receives and checks them:</p>
      <CommandCode id="listen" parts={parts} run={listen} does="receives IPNs" />
      <p>And this makes one by hand:</p>
      <CommandCode id="fire" parts={parts} run={fire} does="makes an IPN" />
    </Empty>
  );
}

/**
 * Deliveries as a table, each with the button that sends it once more.
 *
 * @param from the page that it is on, and to come back to
 * @param ofOne all are of one payment, whose identifier would not tell them apart
 */
export function deliveryTable(state: State, from: string, ofOne = false) {
  const columns: Column<Delivery>[] = [
    column('IPN', (delivery) => <DeliveryLink delivery={delivery} ofOne={ofOne} />, { head: true }),
    column('State', (delivery) => <Status of={delivery.state} />),
    column('Attempts', ({ attemptCount }) => attemptCount, { label: 'Attempts' }),
    column('Last', (delivery) => <Last delivery={delivery} state={state} />, { kind: 'long' }),
    column('To', ({ url }) => <code>{url}</code>, { kind: 'address' }),
    column('Action', ({ id }) => (
      <Form to={`${recordPath('ipns', id)}/resend`} hidden={{ from }} submit="Resend" />
    )),
  ];
  return { columns, keyOf: ({ id }: Delivery) => ({ id }) };
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
