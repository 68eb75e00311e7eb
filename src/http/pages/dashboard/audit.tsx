import { useContext } from 'hono/jsx';
import {
  AUDIT_CLASSES,
  AUDIT_PRESETS,
  AUDIT_VERDICTS,
  type AuditVerdict,
  isReportable,
} from '../../../contract/audit.ts';
import { type AuditedCase, AuditRequest, type AuditRun } from '../../../contract/audit-report.ts';
import { type AuditSeverity, auditHeadline, severityIn } from '../../../contract/audit-summary.ts';
import { quoted } from '../../../contract/curl.ts';
import { command } from '../../../contract/error.ts';
import { parseInput } from '../../../contract/input.ts';
import { namesOf } from '../../../contract/vocabulary.ts';
import { Link } from '../layout.tsx';
import {
  Code,
  type Column,
  CommandFold,
  Facts,
  Languages,
  Section,
  Status,
  Table,
  Time,
  Warnings,
} from './blocks.tsx';
import { Field, Form } from './forms.tsx';
import { type NounPages, PageContext, type PageRenderer, pageAt } from './page.tsx';
import { PLACES } from './paths.ts';
import { capitalized } from './text.ts';

const EXAMPLE = 'http://localhost:3000';
const WITH_COMMANDS = command(
  'audit',
  ...['--order-cmd', quoted('npm run place-order'), '--probe-cmd', quoted('./order-status {identifier}')],
  ...['--paid-when', '/paid/', `${EXAMPLE}/ipn`],
);
const WITH_PRESET = command('audit', '--preset woocommerce', `${EXAMPLE}/ipn`);

/** The path of the last finished audit as one HTML file. */
export const AUDIT_REPORT = `${PLACES.audit.path}/report`;

const auditPage: PageRenderer = ({ parts: { audits }, query }) => {
  const run = audits.last;
  const verdicts = namesOf(AUDIT_VERDICTS);
  const chosen = verdicts.find((verdict) => verdict === query['verdict']);
  const shown = run?.cases.filter(({ verdict }) => !chosen || verdict === chosen) ?? [];
  return pageAt(
    'audit',
    <>
      <h1>Audit</h1>
      <p class="soft">
        Is your payment code safe? The audit places orders in your shop, attacks its IPN handler as real
        attackers do, and checks what the shop does.
      </p>
      {run && <Run run={run} chosen={chosen} />}
      {run?.state !== 'running' && <NewAudit last={run?.options} />}
      {run?.mistakes.map((one) => (
        <MistakeCard
          mistake={one}
          severity={severityIn(one, run.cases)}
          of={shown.filter(({ name }) => one.cases.includes(name))}
        />
      ))}
      {verdicts.map((verdict) => (
        <Cases
          verdict={verdict}
          of={shown.filter((one) => one.verdict === verdict && !(isReportable(verdict) && one.mistake))}
          isOpen={isReportable(verdict) || verdict === chosen}
        />
      ))}
    </>,
  );
};

/** The form that starts an audit. It is collapsed below a report, unless the request was rejected. */
function NewAudit({ last }: { last: AuditRequest | undefined }) {
  const { refusal } = useContext(PageContext);
  const title = last ? 'Audit again' : 'Audit a shop';
  return (
    <section class="box" id="ask" aria-label={title}>
      <details id="again" open={!last || refusal !== undefined}>
        <summary>
          <strong>{title}</strong>
        </summary>
        <Form to={PLACES.audit.path} label="Audit" submit="Run the audit" look="primary">
          {ORDERS.map((field) => (
            <Field {...field} value={last?.[field.name]} />
          ))}
          {CASES.map((field) => (
            <Field {...field} value={last?.[field.name]?.join(', ')} />
          ))}
        </Form>
        <p class="soft">
          The audit settles only its own payments. Its orders stay in the shop’s database. This page accepts
          only URLs. To place and look up orders with your own commands, or with those of a preset (
          {namesOf(AUDIT_PRESETS).join(', ')}):
        </p>
        <CommandFold
          title="Command with your own commands"
          id="commands"
          run={WITH_COMMANDS}
          does="audits with your own commands"
        />
        <CommandFold
          title="Command with a preset"
          id="preset"
          run={WITH_PRESET}
          does="audits with a preset"
        />
      </details>
    </section>
  );
}

const ORDERS = [
  { name: 'ipnUrl', label: 'IPN handler', placeholder: `${EXAMPLE}/ipn`, wide: true, required: true },
  {
    name: 'preset',
    label: 'Preset: fills in empty fields below',
    options: [['', 'none'] as const, ['plain', AUDIT_PRESETS.plain] as const],
    wide: true,
  },
  {
    name: 'orderUrl',
    label: 'Order URL: places an order (empty: uses made-up orders)',
    placeholder: `${EXAMPLE}/test/order`,
    wide: true,
  },
  { name: 'orderMethod', label: 'Method', options: ['POST', 'GET'] },
  {
    name: 'probeUrl',
    label: 'Probe URL: returns an order (empty: nothing can be proven)',
    placeholder: `${EXAMPLE}/orders/{identifier}`,
    wide: true,
  },
  { name: 'paidWhen', label: 'Paid when', placeholder: '.status=paid or /paid/' },
  { name: 'orderAmount', label: 'Amount field', placeholder: '.total' },
] as const;
const CASES = [
  { name: 'only', label: 'Only cases, groups or classes', placeholder: 'sender, D', wide: true },
  { name: 'skip', label: 'Skip', placeholder: 'robustness' },
] as const;

function Run({ run, chosen }: { run: AuditRun; chosen: AuditVerdict | undefined }) {
  const { state, startedAt, endedAt, options, of, cases, summary, orders, notices, error } = run;
  const { path } = PLACES.audit;
  const isRunning = state === 'running';
  const counts = namesOf(AUDIT_VERDICTS).filter((verdict) => summary[verdict] > 0);
  return (
    <section class="box" id="run" aria-labelledby="run-name">
      <h2 id="run-name">{state === 'finished' ? auditHeadline(run) : `${capitalized(error ?? state)}.`}</h2>
      <p
        class="squares"
        role="img"
        aria-label={`Cases: ${counts.map((verdict) => `${summary[verdict]} ${verdict}`).join(', ') || 'none yet'}`}
      >
        {cases.map(({ verdict }) => (
          <span class={`status ${verdict}`} />
        ))}
        {Array.from({ length: of - cases.length }, () => (
          <span class="status" />
        ))}
      </p>
      <nav aria-label="Verdict">
        <ul class="counts">
          {counts.map((verdict) => (
            <li>
              <Link
                href={verdict === chosen ? path : `${path}?verdict=${verdict}`}
                aria-current={verdict === chosen ? 'true' : undefined}
              >
                <span class="number">{summary[verdict]}</span> <Status of={verdict} />
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <p id="progress">
        <strong>
          {cases.length} of {of}
        </strong>{' '}
        cases against <code>{options.ipnUrl}</code>. {isRunning ? 'Started' : 'Ended'} at{' '}
        <Time at={endedAt ?? startedAt} zone />.{isRunning && ' Only one audit runs at a time.'}
      </p>
      <Warnings of={notices} />
      {orders !== null && (
        <p class="soft">
          This audit left {orders} {orders === 1 ? 'order' : 'orders'} in the shop’s database.
        </p>
      )}
      {isRunning && <Form to={`${path}/stop`} submit="Stop" look="danger" about="the audit" />}
      {state === 'finished' && (
        <p>
          <Link class="button plain" href={AUDIT_REPORT}>
            Download report
          </Link>
        </p>
      )}
    </section>
  );
}

const COLUMNS: readonly Column<AuditedCase>[] = [
  ['Case', 'head', ({ name }) => name],
  ['Group', 'plain', ({ group }) => group],
  ['About', 'long', ({ verdict, about, why }) => (verdict === 'pass' ? about : why)],
];

/** The completed cases with one verdict, except those under a mistake. */
function Cases({ verdict, of, isOpen }: { verdict: AuditVerdict; of: AuditedCase[]; isOpen: boolean }) {
  if (of.length === 0) return null;
  return (
    <section class="box" id={verdict} aria-label={`Cases: ${verdict}`}>
      <details id={`${verdict}-cases`} open={isOpen}>
        <summary>
          <strong>{of.length}</strong> <Status of={verdict} />{' '}
          <span class="soft">{AUDIT_VERDICTS[verdict]}</span>
        </summary>
        <Table id={`${verdict}-list`} label={`Cases: ${verdict}`} columns={COLUMNS} rows={of} />
      </details>
    </section>
  );
}

/** A mistake in the shop: what it can cost, how to fix it, and the cases that show it. */
function MistakeCard(props: {
  mistake: AuditRun['mistakes'][number];
  severity: AuditSeverity;
  of: AuditedCase[];
}) {
  const { mistake, severity, of } = props;
  const { name, cost, instruction, code } = mistake;
  if (of.length === 0) return null;
  const label = <Status of={severity === 'at risk' ? 'at-risk' : 'fail'}>{severity}</Status>;
  const title = [capitalized(name.replaceAll('-', ' ')), ' ', label];
  return (
    <Section id={`mistake-${name}`} title={title}>
      <p>{cost}</p>
      <p>
        <strong>Fix:</strong> {instruction}
      </p>
      {code && <Languages of={code} id={name} />}
      {of.map((one) => (
        <FailedCase one={one} />
      ))}
    </Section>
  );
}

function FailedCase({ one }: { one: AuditedCase }) {
  const { name, verdict, about, class: kind, sent, observed, why, curl } = one;
  const facts = [
    ['Class', `${kind}: ${AUDIT_CLASSES[kind]}`],
    ['Sent', sent && <Code text={sent} what={`What was sent: ${name}`} wraps />],
    ['The shop', observed],
    ['Why', why],
    ['Repeat', curl && <Code id={`curl-${name}`} text={curl} what={`curl: ${name}`} />],
  ] as const;
  return (
    <details id={`case-${name}`} class="case">
      <summary>
        <Status of={verdict} /> <strong>{name}</strong>: {about}
      </summary>
      <Facts rows={facts} />
    </details>
  );
}

export const AUDIT_PAGES: NounPages = {
  pages: { [PLACES.audit.path]: auditPage },
  forms: {
    [PLACES.audit.path]: async ({ audits }, { ipnUrl = '', only, skip, ...fields }) => {
      const texts = Object.entries(fields).map(([name, value]) => [name, value?.trim() || undefined]);
      const names = { only: namesIn(only), skip: namesIn(skip) };
      const request = { ...Object.fromEntries(texts), ipnUrl: ipnUrl.trim(), ...names };
      await audits.start(parseInput(AuditRequest, request));
    },
    [`${PLACES.audit.path}/stop`]: async ({ audits }) => {
      await audits.stop();
    },
  },
};

function namesIn(text = ''): string[] | undefined {
  const names = text.split(/[\s,]+/).filter(Boolean);
  return names.length ? names : undefined;
}
