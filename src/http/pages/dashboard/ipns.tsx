import { hidePasswords } from '../../../contract/credentials.ts';
import { remarksOn } from '../../../contract/describe-delivery.ts';
import { command, GatewayError } from '../../../contract/error.ts';
import { requireTamperings, TAMPERINGS } from '../../../contract/tampering.ts';
import type { Tone } from '../../../contract/verdict.ts';
import { namesOf } from '../../../contract/vocabulary.ts';
import type { Delivery } from '../../../domain/state.ts';
import { attemptId } from '../../../usecases/story.ts';
import { faultOf } from '../../../usecases/verdict.ts';
import type { AppParts } from '../../environment.ts';
import { Link } from '../layout.tsx';
import { Ago, type Column, CommandCode, FactsBox, Short, Status, Time } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type List, listPage } from './list.tsx';
import { type NounPages, type PageRenderer, recordPage } from './page.tsx';
import { listPath, ownPage, PLACES, recordPath, recordRoute, SEARCH } from './paths.ts';
import { Signature } from './signature.tsx';
import { Attempts, VerdictCard } from './story.tsx';
import { clip } from './text.ts';

/** Resends the selected IPNs. The field names are the ids of their deliveries. */
const RESEND_SELECTED = `${PLACES.ipns.path}/resend`;

const TABS = {
  'needs-you': 'Needs attention',
  retrying: 'Retrying',
  'forgery-accepted': 'Forgery accepted',
  ok: 'OK',
} as const;

/** Records are immutable, and reading every response again is slow. */
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
      { name: 'state', values: namesOf(TABS), label: 'State', shown: TABS, of: tabOf, isCounted: true },
    ],
    texts: ['identifier', 'id', 'paymentId', 'url'],
    hint: 'order, address',
  },
  action: (from) => (
    <Form id="resend-selected" to={RESEND_SELECTED} hidden={{ from }} submit="Resend selected" inline>
      <label>
        <input type="checkbox" data-all /> Select all
      </label>
    </Form>
  ),
  // Anyone can link to this page with any text.
  notice: ({ resent = '' }) =>
    /^\d+ of \d+$/.test(resent) && (
      <p class="box" role="status">
        Resent: {resent} delivered.
      </p>
    ),
  records: ({ ipns }) => ipns.all,
  columns: (parts, from) => [
    // Search results have no form for the checkboxes.
    ...(from.startsWith(SEARCH) ? [] : [SELECT]),
    [
      'IPN',
      'head',
      ({ id, identifier, status }) => [
        <Short to={recordPath('ipns', id, from)} text={identifier} />,
        status !== 'success' && <span class="soft">{status}</span>,
      ],
    ],
    ['State', 'name', (delivery) => <Standing delivery={delivery} parts={parts} />],
    [
      'Problem',
      'cause',
      (delivery) => {
        const { tone, headline } = parts.ipns.verdict(delivery);
        return tone !== 'good' && clip(headline);
      },
    ],
    [
      'To',
      'address',
      (delivery) => {
        const forwardedTo = parts.ipns.forwardedTo(delivery);
        return [
          forwardedTo !== null && <span class="soft">forwarded to </span>,
          <Short text={forwardedTo ?? delivery.url} />,
        ];
      },
    ],
    ['Created', 'time', ({ createdAt }) => <Ago at={createdAt} />],
    [
      'Action',
      'action',
      (delivery) => (
        <Form
          to={`${recordPath('ipns', delivery.id)}/resend`}
          send={['from', from]}
          submit="Resend"
          about={`IPN of ${delivery.identifier}, ${delivery.id}`}
        />
      ),
    ],
  ],
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

const SELECT: Column<Delivery> = [
  'Select',
  'select',
  ({ id, identifier }) => (
    <input
      type="checkbox"
      name={id}
      form="resend-selected"
      aria-label={`Select the IPN of ${identifier}, ${id}`}
    />
  ),
];

/** The style and the result of a forged IPN. A receiver should reject it. */
const FORGED: Readonly<Record<Tone, readonly [look: Delivery['state'], text: string]>> = {
  bad: ['failed', 'forged, accepted'],
  good: ['delivered', 'forged, rejected'],
  warning: ['delivered', 'forged, rejected'],
  waiting: ['pending', 'forged, unclear'],
};

/** Shows the state of a delivery. @param props `isBrief`: for narrow columns */
export function Standing(props: { delivery: Delivery; parts: AppParts; isBrief?: boolean }) {
  const { delivery, parts, isBrief } = props;
  const { state, attemptCount } = delivery;
  const failing = retrying(delivery, parts);
  if (failing) return <span class="retrying">{isBrief ? failing.brief : failing.text}</span>;
  const forged = parts.ipns.verdictOnForgery(delivery);
  const isError = state === 'delivered' && parts.ipns.verdict(delivery).tone === 'bad';
  const error = isBrief ? 'error in response' : 'answered 2xx, but with an error';
  const [look, text] = forged ? FORGED[forged.tone] : isError ? ['failed', error] : [state, state];
  return [
    <Status of={look}>{text}</Status>,
    !isBrief && attemptCount > 1 && <span class="soft"> ×{attemptCount}</span>,
  ];
}

/** For a pending delivery with failed attempts: how many failed, and when the next one is due. */
export function retrying(delivery: Delivery, { ipns, clock }: AppParts) {
  const failures = ipns.attemptsOf(delivery.id).filter(({ failure }) => failure !== null);
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

const ipnPage: PageRenderer = ({ parts, id, query }) => {
  const delivery = parts.ipns.require(id);
  const { paymentId, nextAttemptAt } = delivery;
  const forwardedTo = parts.ipns.forwardedTo(delivery);
  const last = parts.ipns.attemptsOf(id).at(-1);
  const verdict = parts.ipns.verdict(delivery);
  const from = recordPath('ipns', id, listPath('ipns', query));
  const facts = [
    [forwardedTo === null ? 'To' : 'ipn_url', <code>{delivery.url}</code>],
    ['Forwarded to', forwardedTo && <code>{forwardedTo}</code>],
    ['Status field', <code>{delivery.status}</code>],
    ['Delivery', <code>{delivery.id}</code>],
    ['Payment', paymentId && <Link href={recordPath('payments', paymentId)}>{delivery.identifier}</Link>],
    ['Created (UTC)', <Time at={delivery.createdAt} />],
    ['Next attempt (UTC)', nextAttemptAt && <Time at={nextAttemptAt} />],
  ] as const;
  return recordPage(
    'ipns',
    delivery.id,
    { title: `IPN of ${delivery.identifier}`, status: <Standing delivery={delivery} parts={parts} /> },
    <>
      <VerdictCard
        of={verdict}
        ipn={delivery}
        changes={parts.ipns.changesOf(delivery.id)}
        url={forwardedTo ?? delivery.url}
        from={from}
      />
      <div class="columns uneven">
        <Send delivery={delivery} outcome={verdict.headline} from={from} />
        <FactsBox id="ipn" label="IPN" rows={facts}>
          {remarksOn(delivery).map((remark) => (
            <p class="warning">{remark}</p>
          ))}
        </FactsBox>
      </div>
      <Attempts deliveries={[delivery]} parts={parts} />
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

/** Gets the focus after Resend. */
function Send({ delivery, outcome, from }: { delivery: Delivery; outcome: string; from: string }) {
  const path = recordPath('ipns', delivery.id);
  return (
    <section class="box" id="send" tabindex={-1} aria-labelledby="send-name">
      <h2 id="send-name">Resend</h2>
      <p id="outcome" role="status">
        {delivery.attemptCount > 0 && `Attempt ${delivery.attemptCount}: `}
        {outcome}
      </p>
      <Form
        to={`${path}/resend`}
        hidden={{ from }}
        submit="Resend"
        note="Sends the same bytes again as a new attempt."
      />
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

const IPN = recordRoute('ipns');

export const IPN_PAGES: NounPages = {
  pages: {
    [PLACES.ipns.path]: listPage(IPNS),
    [IPN]: ipnPage,
  },
  forms: {
    [`${IPN}/resend`]: async ({ ipns }, { to, from }, id) => {
      const { url } = ipns.require(id);
      // The page shows the address without its password.
      const sent = await ipns.resend(id, to === hidePasswords(url) ? url : to || undefined);
      const page = recordPath('ipns', sent.id);
      const back = ownPage(from, page);
      const [path] = back.split('?', 1);
      // Scrolls to where the button was, because the user expects the result there.
      if (to || path === page) return `${to ? page : back}#send`;
      const isStory = sent.paymentId !== null && path === recordPath('payments', sent.paymentId);
      return `${back}#${isStory ? attemptId(sent.id, sent.attemptCount) : sent.id}`;
    },
    [`${IPN}/diagnose`]: async ({ ipns, runtime }, { from }, id) => {
      await ipns.diagnose(id, {}, runtime.stopped);
      return `${ownPage(from, recordPath('ipns', id))}#verdict`;
    },
    [RESEND_SELECTED]: async ({ ipns: { resend } }, { from, ...selected }) => {
      const ids = Object.keys(selected);
      if (!ids.length) throw new GatewayError('invalid_fields', 'no IPN is selected: select at least one');
      const results = await Promise.allSettled(ids.map((id) => resend(id)));
      const delivered = results.filter(
        (one) => one.status === 'fulfilled' && one.value.state === 'delivered',
      );
      const back = new URL(ownPage(from, PLACES.ipns.path), 'http://localhost');
      back.searchParams.set('resent', `${delivered.length} of ${ids.length}`);
      return back.pathname + back.search;
    },
    [`${IPN}/tamper`]: async ({ ipns }, { tamper = '' }, id) => {
      const { paymentId, url } = ipns.require(id);
      const payment = paymentId === null ? {} : { payment: paymentId };
      const [fired] = await ipns.fire({ ...payment, to: url, tamper: requireTamperings(tamper) });
      return recordPath('ipns', fired?.id ?? id);
    },
  },
};
