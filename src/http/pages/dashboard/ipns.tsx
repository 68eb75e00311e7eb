import { remarksOn } from '../../../contract/describe-delivery.ts';
import { command } from '../../../contract/hint.ts';
import { TAMPERINGS } from '../../../contract/tampering.ts';
import { namesOf } from '../../../contract/vocabulary.ts';
import type { Delivery } from '../../../domain/state.ts';
import { faultOf } from '../../../usecases/verdict.ts';
import type { AppParts } from '../../environment.ts';
import { Attempts, RESENDS } from './attempts.tsx';
import { CommandCode, FactsBox, Time } from './blocks.tsx';
import { deliveryColumns, RESEND_SELECTED, retrying, Standing } from './delivery-columns.tsx';
import { Field, Form } from './forms.tsx';
import type { List } from './list-page.tsx';
import { type PageRenderer, recordPage, recordPath } from './page.tsx';
import { Signature } from './signature.tsx';
import { VerdictCard } from './verdict.tsx';

/** The tabs of the list. */
const TABS = {
  'needs-you': 'Needs attention',
  retrying: 'Retrying',
  'forgery-accepted': 'Forgery accepted',
  ok: 'OK',
} as const;

/** Records never change, and reading the responses of all of them is slow. */
const known = new WeakMap<Delivery, keyof typeof TABS>();

function tabOf(delivery: Delivery, parts: AppParts): keyof typeof TABS {
  const tab = known.get(delivery) ?? decideTab(delivery, parts);
  known.set(delivery, tab);
  return tab;
}

function decideTab(delivery: Delivery, parts: AppParts): keyof typeof TABS {
  if (parts.ipns.verdictOnForgery(delivery)?.tone === 'bad') return 'forgery-accepted';
  if (retrying(delivery, parts)) return 'retrying';
  const { tone } = parts.ipns.verdict(delivery);
  return tone === 'bad' || tone === 'warning' ? 'needs-you' : 'ok';
}

export const IPNS: List<Delivery> = {
  place: 'ipns',
  noun: 'IPN',
  filter: {
    choices: [
      {
        name: 'state',
        values: namesOf(TABS),
        label: 'State',
        shown: TABS,
        of: tabOf,
        isCounted: true,
      },
    ],
    texts: ['identifier', 'id', 'paymentId', 'url'],
    hint: 'order, address',
  },
  action: (from) => (
    <Form id="resend-selected" to={RESEND_SELECTED} hidden={{ from }} submit="Resend selected" />
  ),
  // Anyone can link to this page with a text.
  notice: ({ resent = '' }) =>
    /^\d+ of \d+$/.test(resent) && (
      <p class="box" role="status">
        Resent: {resent} delivered.
      </p>
    ),
  records: ({ state }) => state.current.deliveries,
  columns: (parts, from) => deliveryColumns(parts, from),
  keyOf: ({ id }) => ({ id }),
  first: (parts) => {
    const url = parts.runtime.baseUrl();
    const listen = command('ipn listen', '--url', url, '--port 3000');
    const fire = command('ipn fire', '--url', url, '--to http://localhost:3000/ipn --amount 49.90');
    return (
      <>
        <p>Finishing a payment sends an IPN. To receive and check IPNs:</p>
        <CommandCode id="listen" run={listen} does="receives IPNs" />
        <p>To send one without a payment:</p>
        <CommandCode id="fire" run={fire} does="creates an IPN" />
      </>
    );
  },
};

export const ipnPage: PageRenderer = ({ parts, id, query }) => {
  const { current: state } = parts.state;
  const delivery = parts.ipns.require(id);
  const { paymentId, nextAttemptAt } = delivery;
  const forwardedTo = parts.ipns.forwardedTo(delivery);
  const last = state.attemptsOf(id).at(-1);
  const verdict = parts.ipns.verdict(delivery);
  const from = recordPath('ipns', id);
  const facts = [
    [forwardedTo === null ? 'To' : 'ipn_url', <code>{delivery.url}</code>],
    ['Forwarded to', forwardedTo && <code>{forwardedTo}</code>],
    ['Status field', <code>{delivery.status}</code>],
    ['Delivery', <code>{delivery.id}</code>],
    ['Payment', paymentId && <a href={recordPath('payments', paymentId)}>{delivery.identifier}</a>],
    ['Created (UTC)', <Time at={delivery.createdAt} />],
    ['Next attempt (UTC)', nextAttemptAt && <Time at={nextAttemptAt} />],
  ] as const;
  return recordPage(
    'ipns',
    delivery.id,
    { title: `IPN of ${delivery.identifier}`, status: <Standing delivery={delivery} parts={parts} /> },
    <>
      <VerdictCard of={verdict} ipn={id} url={forwardedTo ?? delivery.url} from={from} />
      <div class="columns uneven">
        <Send delivery={delivery} outcome={verdict.headline} />
        <FactsBox id="ipn" label="IPN" rows={facts}>
          {remarksOn(delivery).map((remark) => (
            <p class="warning">{remark}</p>
          ))}
        </FactsBox>
      </div>
      <Attempts deliveries={[delivery]} from={from} parts={parts} />
      <Signature
        parts={parts}
        delivery={delivery}
        sent={last?.requestBody ?? delivery.body}
        fault={last && last.requestBody !== delivery.body ? faultOf(last) : null}
      />
    </>,
    query,
  );
};

/** It gets the focus after Resend. */
function Send({ delivery, outcome }: { delivery: Delivery; outcome: string }) {
  const path = recordPath('ipns', delivery.id);
  return (
    <section class="box" id="send" tabindex={-1} aria-labelledby="send-name">
      <h2 id="send-name">Resend</h2>
      <p id="outcome" role="status">
        {delivery.attemptCount > 0 && `Attempt ${delivery.attemptCount}: `}
        {outcome}
      </p>
      <Form to={`${path}/resend`} hidden={{ from: path }} submit="Resend" note={RESENDS} />
      <Form to={`${path}/resend`} label="To another address" submit="Send there">
        <Field
          name="to"
          label="Another address"
          type="url"
          wide
          value={delivery.url}
          required
          placeholder="http://localhost:3000/ipn"
        />
      </Form>
      <Form to={`${path}/tamper`} label="Forged" submit="Send a forged copy">
        <Field name="tamper" label="Forgery (your receiver should reject it)" options={TAMPERINGS} wide />
      </Form>
    </section>
  );
}
