import { setMaxListeners } from 'node:events';
import type { ChalkInstance } from 'chalk';
import { ARTIFACTS, auditReports, htmlOf, junitOf } from '../../audit/artifacts.ts';
import type { Reconciled } from '../../audit/reconcile.ts';
import { AUDIT_PRESETS, AUDIT_VERDICTS, type AuditVerdict, isReportable } from '../../contract/audit.ts';
import type { AuditedCase, AuditReport } from '../../contract/audit-report.ts';
import { auditHeadline, counted, releases } from '../../contract/audit-summary.ts';
import { GatewayError, usage } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { textMask } from '../../contract/secret.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import type { GatewaySimClient } from '../../library/api.ts';
import { clientOf } from '../../library/connect.ts';
import { type ControlServer, controlServer } from '../../library/control-client.ts';
import { egressOf } from '../../library/egress.ts';
import { requireMerchant } from '../../library/merchant-client.ts';
import { type Context, choice, defineCommand, duration, flag, list, named, text } from '../command.ts';
import { readConfiguration, startConfiguration } from '../configuration.ts';
import { type CommandResult, onOneLine, table } from '../output.ts';
import { interruption } from '../signals.ts';
import { requireWritable, writeReports } from '../write-file.ts';

const COLOURS = {
  pass: 'green',
  fail: 'red',
  'at-risk': 'yellow',
  note: 'blue',
  unproven: 'cyan',
  skipped: 'gray',
} as const satisfies Record<AuditVerdict, keyof ChalkInstance>;

export function caseLine({ name, verdict }: AuditedCase): string {
  return `${verdict.padEnd(8)} ${name}`;
}

/** A report as text: the result, each mistake with its fix and cases, cases that prove nothing, and the counts. */
export function auditText({ cases, summary, mistakes, orders }: AuditReport, colour: ChalkInstance): string {
  const byName = new Map(cases.map((one) => [one.name, one]));
  const paragraphs = mistakes.map(({ name, cost, fix, cases: names }) =>
    [
      `${colour.bold(name)}: ${onOneLine(cost)}`,
      '  How to fix it:',
      indented(fix),
      ...names.flatMap((one) => byName.get(one) ?? []).map((one) => caseText(one, colour)),
    ].join('\n'),
  );
  const quiet = quietText(
    cases.filter(({ verdict }) => verdict !== 'pass' && !isReportable(verdict)),
    colour,
  );
  const counts = namesOf(AUDIT_VERDICTS)
    .filter((verdict) => summary[verdict] > 0)
    .map((verdict) => colour[COLOURS[verdict]](`${summary[verdict]} ${verdict}`));
  const left = orders
    ? `This audit left ${counted(orders, 'order')} in the shop's database.`
    : 'This audit saw no new order in the shop.';
  return [
    [colour.bold(auditHeadline(cases)), ...releases(cases)].join('\n'),
    ...paragraphs,
    ...(quiet.length ? [quiet.join('\n')] : []),
    `${counted(cases.length, 'case')}: ${counts.join(', ')}. ${left}`,
  ].join('\n\n');
}

function caseText(
  { name, verdict, about, observed, why, cost, curl }: AuditedCase,
  colour: ChalkInstance,
): string {
  return [
    `  ${colour[COLOURS[verdict]](verdict.toUpperCase())} ${colour.bold(name)}: ${about}`,
    ...(observed === null ? [] : [`    Result: ${onOneLine(observed)}.`]),
    ...(why === cost ? [] : [`    ${onOneLine(why)}`]),
    ...(curl === null ? [] : [indented(curl)]),
  ].join('\n');
}

/** Cases that prove nothing, grouped by reason. */
function quietText(cases: readonly AuditedCase[], colour: ChalkInstance): string[] {
  const byReason = new Map<string, AuditedCase[]>();
  for (const one of cases) {
    const key = `${one.verdict}: ${one.why}`;
    byReason.set(key, [...(byReason.get(key) ?? []), one]);
  }
  return [...byReason].map(([, same]) => {
    const [{ verdict, why } = { verdict: 'skipped', why: '' } as const] = same;
    return `  ${colour[COLOURS[verdict]](verdict)} ${same.map(({ name }) => name).join(', ')}: ${onOneLine(why)}`;
  });
}

function indented(text: string): string {
  return text.replace(/^/gm, '    ');
}

const ABOUT = `
The audit places orders in your shop, and attacks its IPN handler and return page as real attackers and gateways do.
Your probe shows how the shop reacted. The audit settles only its own payments. Its orders stay in the shop's database.

{identifier} is replaced with the identifier of an order; in a command, with "$GATEWAY_SIM_IDENTIFIER", quotes included.
{trx}, {amount}, {ipn_url}, {success_url} and {order} work the same way. Commands also get GATEWAY_SIM_URL,
GATEWAY_SIM_INITIATE_URL and the keys in their environment. Without a probe, nothing can be proven. The exit code is 1
if a case fails or the audit cannot run.`;

const ALLOW_IPN_HOST = list('host', 'allow requests to this public host; repeatable');

const PROBE = {
  probeCmd: text(
    'command',
    'command that prints an order; must contain the placeholder {identifier}, without quotes',
  ),
  probeUrl: text('url', 'address that returns the order, such as http://localhost:3000/orders/{identifier}'),
  paidWhen: text('condition', 'condition for a paid order: .path=value for JSON, or /regular expression/'),
};

export const audit = defineCommand({
  args: ['[ipn-url]'],
  summary: "attack a shop's IPN handler and check how the shop reacts",
  fields: {
    preset: choice(
      'shop',
      'use the order and probe settings of this shop system; other options override them',
      namesOf(AUDIT_PRESETS),
    ),
    orderCmd: text('command', 'command that places an order in the shop'),
    orderUrl: text('url', 'address that places an order'),
    orderMethod: choice('method', 'HTTP method for --order-url (default: POST)', ['GET', 'POST']),
    orderWait: flag('wait for you to place the orders by hand'),
    ...PROBE,
    orderAmount: text('path', 'path of the order amount in the probe output, such as .total'),
    confirmUrl: text(
      'url',
      'another URL that confirms a payment, in addition to success_url; accepts the same placeholders',
    ),
    only: list('names', 'run only these cases, groups or classes; repeatable'),
    skip: list('names', 'skip these cases, groups or classes; repeatable'),
  },
  options: {
    probe: named(
      'command or url',
      "another effect that must happen once per payment, such as stock='<command or url>'; repeatable",
    ),
    orders: text('number', 'maximum number of orders (default: 150; 3 with --order-wait)'),
    wait: duration('wait up to this long for the shop to accept connections'),
    failOn: list('verdicts', 'also exit 1 on these verdicts: at-risk, unproven; repeatable'),
    own: flag('start a separate emulator for the audit, in memory, on the configured port'),
    timeout: duration('time limit for each request, order and probe, such as 5s (default: at least 10s)'),
    allowIpnHost: ALLOW_IPN_HOST,
    junit: text('file', 'also write the report as JUnit XML'),
    html: text('file', 'also write the report as an HTML page'),
    list: flag('list all cases with their meaning, without running them'),
  },
  about: ABOUT,
  examples: [
    "audit http://localhost:3000/ipn --order-cmd 'npm run place-order' --probe-url 'http://localhost:3000/orders/{identifier}' --paid-when .status=paid",
    'audit --list',
  ],
  run: async (context) => {
    const { args, fields, options, output, io } = context;
    const { list, junit, html, own, failOn, allowIpnHost, orders, probe, timeout, wait } = options;
    if (list) return listed();
    const [ipnUrl] = args;
    if (ipnUrl === undefined) throw missingUrl();
    const alsoFailing = verdictsOf(failOn ?? []);
    using interrupted = interruption('the audit', io);
    interrupted.soon.addEventListener('abort', () => {
      if (!interrupted.now.aborted)
        output.notice('Stopping after the current case. Press Ctrl-C again to stop immediately.');
    });
    await requireWritable([junit, html], io.cwd);
    const { gateway, mask, stop } = own
      ? await ownEmulator(context)
      : await running(context, interrupted.now);
    try {
      const report = await gateway.audit({
        ...fields,
        ipnUrl,
        signal: interrupted.soon,
        cancelled: interrupted.now,
        probes: probe,
        timeoutMs: timeout,
        waitMs: wait,
        allowIpnHosts: allowIpnHost,
        ...(orders !== undefined && { orders: Number(orders) }),
        onCase: (audited, done, of) => output.notice(progress(audited, done, of)),
        onNotice: (text) => output.notice(`gateway-sim: ${text}`),
      });
      const artifacts = io.env[ARTIFACTS];
      const unwritten = await writeReports(
        [
          ...(artifacts ? auditReports(artifacts, report, mask(ipnUrl)) : []),
          [junit, () => junitOf(report)],
          [html, () => htmlOf(report, mask(ipnUrl))],
        ],
        io.cwd,
      );
      return { ...result(report, alsoFailing, output.colour), ...unwritten };
    } finally {
      await stop();
    }
  },
});

async function listed(): Promise<CommandResult> {
  const { auditCases } = await import('../../audit/audit.ts');
  const cases = auditCases();
  const columns = {
    Case: ({ name }: (typeof cases)[number]) => name,
    Class: ({ class: kind }: (typeof cases)[number]) => kind,
    Group: ({ group }: (typeof cases)[number]) => group,
    Meaning: ({ about }: (typeof cases)[number]) => about,
  };
  return { json: { cases }, text: table(columns, cases) };
}

function missingUrl(): GatewayError {
  return usage('audit requires the address of the IPN handler', {
    hint: hint`For example: ${command('audit', 'http://localhost:3000/ipn')}`,
  });
}

/** Verdicts that `--fail-on` accepts, in addition to `fail`. */
const FAIL_ON: readonly string[] = ['at-risk', 'unproven'] satisfies AuditVerdict[];

function verdictsOf(given: readonly string[]): ReadonlySet<string> {
  const unknown = given.find((verdict) => !FAIL_ON.includes(verdict));
  if (unknown === undefined) return new Set(['fail', ...given]);
  throw usage(`--fail-on accepts ${FAIL_ON.join(' and ')} (got "${unknown}")`);
}

function progress(audited: AuditedCase, done: number, of: number): string {
  return `[${done}/${of}] ${caseLine(audited)}`;
}

function result(
  report: AuditReport,
  alsoFailing: ReadonlySet<string>,
  colour: Context['output']['colour'],
): CommandResult {
  const bad = report.cases.filter(({ verdict }) => alsoFailing.has(verdict)).length;
  const control = report.cases[0];
  const broken = control?.verdict === 'unproven' && control.sent === null;
  return {
    json: report,
    text: auditText(report, colour),
    ...(bad > 0 && { failure: `${bad} of ${report.cases.length} cases failed` }),
    ...(bad === 0 && broken && { failure: `the audit could not run: ${onOneLine(control.why)}` }),
  };
}

interface Emulator {
  gateway: GatewaySimClient;
  /** Masks the emulator's secrets in a text. */
  mask: (text: string) => string;
  stop: () => Promise<void>;
}

/** The running emulator, or a new one if none is running and the user named none. */
async function running(context: Context, cancelled: AbortSignal): Promise<Emulator> {
  const { connect, choice, output } = context;
  try {
    return await attached(await connect(), cancelled);
  } catch (error) {
    const isNamed = Object.values(choice).some((given) => given !== undefined);
    if (isNamed || !(error instanceof GatewayError) || error.code !== 'no_server') throw error;
    output.notice(
      'gateway-sim: no emulator found, so the audit starts its own in memory; to use a running one, set --url',
    );
    return ownEmulator(context);
  }
}

/** `stop` cancels open requests, in case the emulator hangs. */
async function attached(server: ControlServer, cancelled: AbortSignal): Promise<Emulator> {
  const keys = await requireMerchant(controlServer({ ...server, signal: cancelled }));
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const asked = controlServer({ ...server, signal: ended.signal });
  const mask = textMask([keys.secretKey, server.controlToken ?? '']);
  return { gateway: clientOf(asked, null, keys), mask, stop: async () => ended.abort() };
}

/** As `start` would run it here, but in memory, so that the shop finds it at the usual address. */
async function ownEmulator({ io, output }: Context): Promise<Emulator> {
  const { startEmulator } = await import('../start-emulator.ts');
  const file = await readConfiguration(undefined, io);
  const server = await startEmulator(startConfiguration({ inMemory: true }, io.env, file), output);
  const { controlToken } = server;
  const mask = textMask([server.secretKey, controlToken ?? '']);
  return { gateway: clientOf(controlServer(server), controlToken, server), mask, stop: () => server.stop() };
}

function differing(found: readonly Reconciled[]): string {
  const unseen = found.filter(({ problem }) => problem === 'not-probed').length;
  const wrong = found.length - unseen;
  const parts = [
    ...(wrong ? [wrong === 1 ? '1 payment differs' : `${wrong} payments differ`] : []),
    ...(unseen ? [`${unseen} could not be probed`] : []),
  ];
  return parts.join(', ');
}

const agreement = (compared: number) =>
  compared
    ? `The shop and the emulator agree on ${compared === 1 ? '1 payment' : `all ${compared} payments`}.`
    : 'Nothing to compare.';

const whyNothing = (unseen: number) =>
  unseen
    ? `the probe worked for none of the ${unseen} payments`
    : 'the emulator has no payments, except those of audits';

export const reconcile = defineCommand({
  summary: "compare the emulator's payments with the shop's orders",
  options: {
    ...PROBE,
    orderAmount: text('path', 'path of the order amount in the probe output, such as .total'),
    fulfilled: text('path', 'path of the number of fulfilments in the probe output, such as .shipments'),
    allowIpnHost: ALLOW_IPN_HOST,
  },
  examples: ["reconcile --probe-cmd './order-status {identifier}' --paid-when /paid/"],
  run: async ({ options, connect, io }) => {
    using interrupted = interruption('the comparison', io);
    const server = controlServer({ ...(await connect()), signal: interrupted.soon });
    const { controlToken = null } = server;
    const gateway = clientOf(server, null, await requireMerchant(server));
    const egress = await egressOf(server, options.allowIpnHost);
    const { reconcile } = await import('../../audit/reconcile.ts');
    const { compared, found: differences } = await reconcile(
      { ...gateway, egress, controlToken },
      { ...options, cancelled: interrupted.soon },
    );
    const columns = {
      Identifier: ({ identifier }: (typeof differences)[number]) => identifier,
      Problem: ({ problem }: (typeof differences)[number]) => problem,
      Detail: ({ detail }: (typeof differences)[number]) => detail,
    };
    const count = differences.length;
    return {
      json: { data: differences },
      text: count ? table(columns, differences) : agreement(compared),
      ...(count > 0 && { failure: `${differing(differences)} (${compared} compared)` }),
      ...(compared === 0 && { failure: `nothing was compared: ${whyNothing(count)}`, failureCode: 'usage' }),
    };
  },
});
