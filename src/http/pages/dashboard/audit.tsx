import { useContext } from 'hono/jsx';
import {
  AUDIT_CLASSES,
  AUDIT_GROUPS,
  AUDIT_VERDICTS,
  type AuditGroup,
  isTold,
} from '../../../contract/audit.ts';
import type { AuditedCase, AuditRequest, AuditRun } from '../../../contract/audit-report.ts';
import { auditHeadline } from '../../../contract/audit-summary.ts';
import { quoted } from '../../../contract/curl.ts';
import { command } from '../../../contract/hint.ts';
import { namesOf } from '../../../contract/vocabulary.ts';
import { Code, CommandCode, Facts, Section, Status, Time, Warnings } from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { PageContext, type PageRenderer, PLACES, pageAt } from './page.tsx';
import { type Column, column, Table } from './table.tsx';
import { capitalized } from './text.ts';

const EXAMPLE = 'http://localhost:3000';
const WITH_COMMANDS = command(
  'audit',
  ...['--order-cmd', quoted('npm run place-order'), '--probe-cmd', quoted('./order-status {identifier}')],
  ...['--paid-when', '/paid/', `${EXAMPLE}/ipn`],
);

export const auditPage: PageRenderer = ({ parts: { audits } }) => {
  const run = audits.last;
  return pageAt(
    'audit',
    <>
      <h1>Audit</h1>
      <p class="soft">
        Is your payment code safe? The audit places orders in your shop, attacks its IPN handler like real
        attackers and gateways do, and checks what the shop did.
      </p>
      {run && <Run {...run} />}
      {run?.state !== 'running' && <NewAudit last={run?.options} />}
      {run?.mistakes.map((one) => (
        <MistakeCard {...one} />
      ))}
      {run && namesOf(AUDIT_GROUPS).map((group) => <Group group={group} run={run} />)}
    </>,
  );
};

/** The form that starts an audit. It is collapsed below a report, unless the request was rejected. */
function NewAudit({ last }: { last: AuditRequest | undefined }) {
  const { posted } = useContext(PageContext);
  if (!last) {
    return (
      <Section id="ask" title="Audit a shop">
        <AuditForm last={last} />
      </Section>
    );
  }
  return (
    <section class="box" id="ask" aria-label="Audit again">
      <details id="again" open={posted !== undefined}>
        <summary>Audit again</summary>
        <AuditForm last={last} />
      </details>
    </section>
  );
}

function AuditForm({ last }: { last: AuditRequest | undefined }) {
  return (
    <>
      <Form to={PLACES.audit.path} label="Audit" submit="Run the audit" look="primary">
        <div class="form">
          <Field
            name="ipnUrl"
            label="IPN handler"
            value={last?.ipnUrl}
            placeholder={`${EXAMPLE}/ipn`}
            wide
            required
          />
        </div>
        <div class="form">
          <Field
            name="orderUrl"
            label="Order URL: places an order (empty: uses made-up orders)"
            value={last?.orderUrl}
            placeholder={`${EXAMPLE}/test/order`}
            wide
          />
          <Field
            name="orderMethod"
            label="Method"
            value={last?.orderMethod ?? 'POST'}
            options={['POST', 'GET']}
          />
        </div>
        <div class="form">
          <Field
            name="probeUrl"
            label="Probe URL: returns an order (empty: nothing can be proven)"
            value={last?.probeUrl}
            placeholder={`${EXAMPLE}/orders/{identifier}`}
            wide
          />
          <Field
            name="paidWhen"
            label="Paid when"
            value={last?.paidWhen}
            placeholder=".status=paid or /paid/"
          />
          <Field name="orderAmount" label="Amount at" value={last?.orderAmount} placeholder=".total" />
        </div>
        <div class="form">
          <Field
            name="only"
            label="Only cases, groups or classes"
            value={last?.only?.join(', ')}
            placeholder="sender, D"
            wide
          />
          <Field name="skip" label="Skip" value={last?.skip?.join(', ')} placeholder="robustness" wide />
        </div>
      </Form>
      <p class="soft">
        The audit settles only its own payments. Its orders stay in the shop’s database. This page accepts
        only URLs. To place and look up orders with commands:
      </p>
      <CommandCode id="commands" run={WITH_COMMANDS} does="audits with commands" />
    </>
  );
}

/** The progress of an audit, or its result. */
function Run({ state, startedAt, endedAt, options, of, cases, summary, orders, notices, error }: AuditRun) {
  const done = cases.length;
  const isRunning = state === 'running';
  return (
    <section class="box" id="run" aria-labelledby="run-name">
      <h2 id="run-name">
        {capitalized(state)}: audit of <code>{options.ipnUrl}</code>
      </h2>
      {isRunning && <progress max={of} value={done} aria-label="Completed cases" />}
      <p id="progress">
        <strong>
          {done} of {of}
        </strong>{' '}
        cases, {isRunning ? 'started' : 'ended'} at <Time at={endedAt ?? startedAt} zone />.
        {isRunning && ' Only one audit runs at a time.'}
      </p>
      {state === 'finished' && (
        <p id="headline">
          <strong>{auditHeadline(cases)}</strong>
        </p>
      )}
      {error !== null && <p class="wrong">{capitalized(error)}.</p>}
      <Warnings of={notices} />
      <ul class="verdicts">
        {namesOf(AUDIT_VERDICTS)
          .filter((verdict) => summary[verdict] > 0)
          .map((verdict) => (
            <li data-key={verdict}>
              <span class="number">{summary[verdict]}</span> <Status of={verdict} />{' '}
              <span class="soft">{AUDIT_VERDICTS[verdict]}</span>
            </li>
          ))}
      </ul>
      {orders !== null && (
        <p class="soft">
          This audit left {orders} {orders === 1 ? 'order' : 'orders'} in the shop’s database.
        </p>
      )}
    </section>
  );
}

const COLUMNS: readonly Column<AuditedCase>[] = [
  column(
    'Case',
    ({ name, class: kind, verdict }) => [
      isTold(verdict) ? <a href={`#case-${name}`}>{name}</a> : name,
      <span class="soft"> {kind}</span>,
    ],
    { head: true },
  ),
  column('Verdict', ({ verdict }) => <Status of={verdict} />),
  column('About', ({ verdict, about, why }) => (isTold(verdict) || verdict === 'pass' ? about : why), {
    kind: 'long',
  }),
];

/** The completed cases of a group. */
function Group({ group, run }: { group: AuditGroup; run: AuditRun }) {
  const cases = run.cases.filter((one) => one.group === group);
  if (cases.length === 0) return null;
  const failed = cases.filter(({ verdict }) => isTold(verdict));
  const passed = cases.filter(({ verdict }) => verdict === 'pass').length;
  return (
    <Section id={group} title={`${capitalized(group)}: ${AUDIT_GROUPS[group]}`}>
      <p class="soft">
        {passed} of {cases.length} passed
      </p>
      <Table
        id={`${group}-cases`}
        label={`Cases: ${group}`}
        columns={COLUMNS}
        rows={cases}
        keyOf={({ name }) => ({ 'data-key': name })}
      />
      {failed.map((one) => (
        <FailedCase one={one} />
      ))}
    </Section>
  );
}

/** A mistake of the shop: what it can cost, how to fix it, and the cases that show it. */
function MistakeCard({ name, cost, fix, cases }: AuditRun['mistakes'][number]) {
  return (
    <Section id={`mistake-${name}`} title={capitalized(name.replaceAll('-', ' '))}>
      <p>{cost}</p>
      <Code id={`fix-${name}`} text={fix} what={`How to fix it: ${name}`} wraps />
      <p class="soft">
        Shown by{' '}
        {cases.map((one, index) => (
          <>
            {index > 0 && ', '}
            <a href={`#case-${one}`}>{one}</a>
          </>
        ))}
      </p>
    </Section>
  );
}

/** The details of a case that did not pass. */
function FailedCase({ one }: { one: AuditedCase }) {
  const { name, verdict, about, class: kind, sent, observed, why, mistake, curl } = one;
  const facts = [
    ['Class', `${kind}: ${AUDIT_CLASSES[kind]}`],
    ['Sent', sent && <Code text={sent} what={`What was sent: ${name}`} wraps />],
    ['The shop', observed],
    ['Why', why],
    ['How to fix it', mistake && <a href={`#mistake-${mistake}`}>{mistake.replaceAll('-', ' ')}</a>],
    ['Repeat', curl && <Code id={`curl-${name}`} text={curl} what={`curl: ${name}`} />],
  ] as const;
  return (
    <details id={`case-${name}`} class="case" open>
      <summary>
        <Status of={verdict} /> <strong>{name}</strong>: {about}
      </summary>
      <Facts rows={facts} />
    </details>
  );
}
