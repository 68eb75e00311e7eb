import { DELIVERY_STATES } from '../../../contract/vocabulary.ts';
import type { Attempt, Delivery, State } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Action, Choice, Code, Field, Pages, Status, Time } from './blocks.tsx';
import { DeliveryTimes } from './chart.tsx';
import { listPath, PER_PAGE, PLACES, UI } from './navigation.ts';
import { Cell, Row, RowHead, Table } from './table.tsx';

/** What a list of IPNs is narrowed to. */
export type DeliveryFilter = {
  state?: string | undefined;
  /** Part of identifier, id or address, in any case. */
  text?: string | undefined;
  cursor?: string | undefined;
};

/** So many attempts stand in the chart. */
const CHARTED = 60;

/** The page of the IPNs. */
export function IpnsPage({ parts, filter }: { parts: AppParts; filter: DeliveryFilter }) {
  const { state } = parts.gateway;
  const page = state.deliveries.page(PER_PAGE, filter.cursor, fits(filter));
  const attempts = state.attempts.page(CHARTED, undefined, () => true).data.toReversed();
  if (state.deliveries.size === 0) {
    return (
      <>
        <h1>IPNs</h1>
        <NoIpns parts={parts} />
      </>
    );
  }
  return (
    <>
      <h1>IPNs</h1>
      {attempts.length > 0 && (
        <div id="ipn-times" class="box">
          <DeliveryTimes attempts={attempts} />
        </div>
      )}
      <Filter filter={filter} />
      {page.data.length > 0 ? (
        <div class="box" id="ipns">
          <DeliveryTable
            id="ipn-list"
            label="IPNs, newest first"
            deliveries={page.data}
            state={state}
            from={listPath('ipns', filter)}
          />
        </div>
      ) : (
        <p class="box" id="no-ipn">
          No IPN fits. <a href={PLACES.ipns.path}>Show all</a>
        </p>
      )}
      <Pages place="ipns" query={filter} next={page.nextCursor} />
    </>
  );
}

function fits({ state, text }: DeliveryFilter): (delivery: Delivery) => boolean {
  const wanted = text?.trim().toLowerCase();
  return (delivery) => {
    if (state && delivery.state !== state) return false;
    if (!wanted) return true;
    const { identifier, id, paymentId, url } = delivery;
    return [identifier, id, paymentId ?? '', url].some((value) => value.toLowerCase().includes(wanted));
  };
}

function Filter({ filter }: { filter: DeliveryFilter }) {
  return (
    <search>
      <form class="form" method="get" action={PLACES.ipns.path} aria-label="Filter">
        <Choice
          name="state"
          label="State"
          value={filter.state ?? ''}
          options={[['', 'any'], ...DELIVERY_STATES.map((one) => [one, one] as const)]}
        />
        <Field name="text" label="Text" value={filter.text ?? ''} hint="identifier, address" />
        <button type="submit" class="plain">
          Filter
        </button>
      </form>
    </search>
  );
}

function NoIpns({ parts }: { parts: AppParts }) {
  const { baseUrl, command } = parts.facts;
  const url = baseUrl();
  return (
    <section class="box empty" id="no-ipn-yet" aria-labelledby="none">
      <h2 id="none">No IPN yet</h2>
      <p>Settling a payment sends one. This receives and checks them:</p>
      <Code
        id="listen"
        text={command(`gateway-sim ipn listen --url ${url} --port 3000`)}
        what="The command that receives IPNs"
      />
      <p>And this makes one by hand:</p>
      <Code
        id="fire"
        text={command(`gateway-sim ipn fire --url ${url} --to http://localhost:3000/ipn --amount 49.90`)}
        what="The command that makes an IPN"
      />
    </section>
  );
}

/** Deliveries as a table, each with the button that sends it once more. */
export function DeliveryTable(props: {
  id: string;
  label: string;
  deliveries: readonly Delivery[];
  state: State;
  /** The page that it stands on, and to come back to. */
  from: string;
  /** All are of one payment, whose identifier would not tell them apart. */
  ofOne?: boolean;
}) {
  const { id, label, deliveries, state, from, ofOne = false } = props;
  return (
    <Table id={id} label={label} columns={['IPN', 'State', 'Attempts', 'Last', 'To', 'Action']}>
      {deliveries.map((delivery) => (
        <DeliveryRow delivery={delivery} state={state} from={from} ofOne={ofOne} />
      ))}
    </Table>
  );
}

function DeliveryRow(props: { delivery: Delivery; state: State; from: string; ofOne: boolean }) {
  const { delivery, state, from, ofOne } = props;
  const { id, identifier, status, attemptCount } = delivery;
  const last = state.attemptsOf(id).at(-1);
  return (
    <Row id={id}>
      <RowHead>
        <a href={`${UI}/ipns/${id}`}>{ofOne ? id : identifier}</a>
        {!ofOne && <span class="soft below">{id}</span>}
        {status !== 'success' && <span class="soft below">carries {status}</span>}
      </RowHead>
      <Cell>
        <Status of={delivery.state} />
      </Cell>
      <Cell label="Attempts">{attemptCount}</Cell>
      <Cell kind="long">
        {last ? outcomeOf(last) : (delivery.note ?? 'not attempted yet')}
        {delivery.nextAttemptAt !== null && (
          <span class="soft below">
            next at <Time at={delivery.nextAttemptAt} zone />
          </span>
        )}
      </Cell>
      <Cell kind="address">
        <code>{delivery.url}</code>
      </Cell>
      <Cell>
        <Action to={`${UI}/ipns/${id}/resend`} inline>
          <input type="hidden" name="from" value={from} />
          <button type="submit" class="plain">
            Resend
          </button>
        </Action>
      </Cell>
    </Row>
  );
}

/** How an attempt ended, and how long that took. */
export function outcomeOf({ error, responseStatus, durationMs }: Attempt): string {
  return `${error ?? `answered ${responseStatus}`} (${Math.round(durationMs)}\u00a0ms)`;
}
