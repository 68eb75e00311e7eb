import type { Tone } from '../../../contract/verdict.ts';
import type { Delivery } from '../../../domain/state.ts';
import type { AppParts } from '../../environment.ts';
import { Ago, Short, Status } from './blocks.tsx';
import { Form } from './forms.tsx';
import { PLACES, recordPath } from './page.tsx';
import { type Column, column } from './table.tsx';
import { clip } from './text.ts';

/** Resends the IPNs whose rows are selected. Its fields are named after the deliveries. */
export const RESEND_SELECTED = `${PLACES.ipns.path}/resend`;

/** @param from the page to return to */
export function deliveryColumns(parts: AppParts, from: string): Column<Delivery>[] {
  return [
    column(
      'Select',
      ({ id, identifier }) => (
        <input
          type="checkbox"
          name={id}
          form="resend-selected"
          aria-label={`Select the IPN of ${identifier}, ${id}`}
        />
      ),
      { kind: 'select' },
    ),
    column('IPN', (delivery) => <DeliveryLink delivery={delivery} from={from} />, { head: true }),
    column('State', (delivery) => <Standing delivery={delivery} parts={parts} />, { kind: 'name' }),
    column('Problem', (delivery) => <Problem delivery={delivery} parts={parts} />, { kind: 'name' }),
    column('To', (delivery) => <To delivery={delivery} parts={parts} />, { kind: 'address' }),
    column('Created', ({ createdAt }) => <Ago at={createdAt} />, { kind: 'time' }),
    column(
      'Action',
      (delivery) => (
        <Form
          to={`${recordPath('ipns', delivery.id)}/resend`}
          send={['from', from]}
          submit="Resend"
          about={`IPN of ${delivery.identifier}, ${delivery.id}`}
        />
      ),
      { kind: 'action' },
    ),
  ];
}

interface DeliveryProps {
  delivery: Delivery;
  parts: AppParts;
}

interface StandingProps extends DeliveryProps {
  /** For narrow columns. */
  isBrief?: boolean | undefined;
}

/** The result of a forged IPN, and the state that it is styled as. A forged IPN should fail. */
const FORGED: Readonly<Record<Tone, readonly [ended: string, look: Delivery['state']]>> = {
  bad: ['accepted', 'failed'],
  good: ['rejected', 'delivered'],
  warning: ['rejected', 'delivered'],
  waiting: ['unclear', 'pending'],
};

function DeliveryStatus({ delivery, parts, isBrief }: StandingProps) {
  const forged = parts.ipns.verdictOnForgery(delivery);
  if (!forged) {
    const isWrong = delivery.state === 'delivered' && parts.ipns.verdict(delivery).tone === 'bad';
    return isWrong ? (
      <span class="status failed">{isBrief ? 'error in response' : 'answered 2xx, but with an error'}</span>
    ) : (
      <Status of={delivery.state} />
    );
  }
  const [ended, look] = FORGED[forged.tone];
  return <span class={`status ${look}`}>forged, {ended}</span>;
}

export function Standing({ delivery, parts, isBrief }: StandingProps) {
  const failing = retrying(delivery, parts);
  if (failing === undefined) {
    const { attemptCount } = delivery;
    return [
      <DeliveryStatus delivery={delivery} parts={parts} isBrief={isBrief} />,
      !isBrief && attemptCount > 1 && <span class="soft"> ×{attemptCount}</span>,
    ];
  }
  return <span class="retrying">{isBrief ? failing.brief : failing.text}</span>;
}

/** A pending delivery with failed attempts: how many, and when the next attempt is due. */
export function retrying(delivery: Delivery, { state, clock }: AppParts) {
  const failures = state.current.attemptsOf(delivery.id).filter(({ failure }) => failure !== null);
  const last = failures.at(-1);
  if (delivery.state !== 'pending' || !last || delivery.nextAttemptAt === null) return undefined;
  const seconds = Math.max(0, Math.round((Date.parse(delivery.nextAttemptAt) - clock.now()) / 1_000));
  const wait = seconds < 90 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  const times = `×${failures.length}`;
  return {
    brief: `retrying ${times}`,
    text: `retrying · ${last.responseStatus ?? 'no response'} ${times} · next in ${wait}`,
  };
}

function To({ delivery, parts }: DeliveryProps) {
  const forwardedTo = parts.ipns.forwardedTo(delivery);
  return (
    <>
      {forwardedTo !== null && <span class="soft">forwarded to </span>}
      <Short text={forwardedTo ?? delivery.url} />
    </>
  );
}

function DeliveryLink({ delivery, from }: { delivery: Delivery; from: string }) {
  const { id, identifier, status } = delivery;
  return (
    <>
      <Short to={recordPath('ipns', id, from)} text={identifier} />
      {status !== 'success' && <span class="soft">{status}</span>}
    </>
  );
}

/** What is wrong. The IPN's page explains why. */
function Problem({ delivery, parts }: DeliveryProps) {
  const { tone, headline } = parts.ipns.verdict(delivery);
  return tone === 'good' ? null : clip(headline);
}
