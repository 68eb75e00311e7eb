import { setMaxListeners } from 'node:events';
import type { Reconciled } from '../../audit/reconcile.ts';
import { AUDIT_PRESETS, type AuditVerdict } from '../../contract/audit.ts';
import type { AuditedCase, AuditReport } from '../../contract/audit-report.ts';
import { GatewayError } from '../../contract/error.ts';
import { command, hint } from '../../contract/hint.ts';
import { textMask } from '../../contract/secret.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import type { GatewaySimClient } from '../../library/api.ts';
import { clientOf } from '../../library/connect.ts';
import { type ControlServer, controlServer } from '../../library/control-client.ts';
import { egressOf } from '../../library/egress.ts';
import { requireMerchant } from '../../library/merchant-client.ts';
import { ARTIFACTS, auditReports, htmlOf, junitOf } from '../artifacts.ts';
import { type Context, choice, defineCommand, duration, flag, list, named, text } from '../command.ts';
import { readConfiguration, startConfiguration } from '../configuration.ts';
import { auditText, caseLine } from '../format-audit.ts';
import { table } from '../layout.ts';
import type { CommandResult } from '../output.ts';
import { onOneLine } from '../printable.ts';
import { interruption } from '../signals.ts';
import { requireWritable, writeReports } from '../write-file.ts';

const ABOUT = `
The audit places orders in your shop, attacks its IPN handler and its return page the way real attackers and real
gateways do, and looks by your probe at what the shop did. It settles only payments that it made itself, and leaves its
orders in the shop's database. {identifier} stands for the identifier of an order; in a command that is
"$GATEWAY_SIM_IDENTIFIER", quotes included, and {trx}, {amount}, {ipn_url}, {success_url} and {order} are the like.
Commands also see GATEWAY_SIM_URL, GATEWAY_SIM_INITIATE_URL and the keys. Without a probe nothing can be proven. Exit
code 1 when a case fails, or when the audit could not be carried out.`;

const ALLOW_IPN_HOST = list('host', 'let requests out to this public host; repeatable');

const PROBE = {
  probeCmd: text('command', 'prints what the shop knows of the order {identifier}, without quotes around it'),
  probeUrl: text('url', 'the same from an address, such as http://localhost:3000/orders/{identifier}'),
  paidWhen: text('condition', 'it is paid when: .path=value on JSON, or /regular expression/'),
};

export const audit = defineCommand({
  args: ['[ipn-url]'],
  summary: "attack a shop's IPN handler, and look at what the shop did",
  options: {
    preset: choice(
      'shop',
      'fill in how orders are placed and looked at, and say so; other options beat it',
      namesOf(AUDIT_PRESETS),
    ),
    orderCmd: text('command', 'makes the shop place an order'),
    orderUrl: text('url', 'the same by a request to this address'),
    orderMethod: choice('method', 'the method of --order-url (default: POST)', ['GET', 'POST']),
    orderWait: flag('somebody places the orders by hand'),
    orders: text('number', 'maximum number of orders (default: 150; 3 with --order-wait)'),
    ...PROBE,
    probe: named(
      'command or url',
      "something that happens once per payment, as in stock='<command or url>'; repeatable",
    ),
    orderAmount: text('path', 'where the probe says what the order costs, such as .total'),
    confirmUrl: text('url', 'confirms a payment beside success_url; {identifier} and the like as in a probe'),
    wait: duration('wait until the shop listens'),
    only: list('names', 'only these cases, groups or classes; repeatable'),
    skip: list('names', 'not these; repeatable'),
    failOn: list('verdicts', 'exit 1 on these, too: at-risk, unproven; repeatable'),
    own: flag('in an emulator of its own, in memory, on the port of the configuration'),
    timeout: duration('for an answer, an order and a look each, such as 5s (default: 10s and more)'),
    allowIpnHost: ALLOW_IPN_HOST,
    junit: text('file', 'write the report as JUnit XML, too'),
    html: text('file', 'write the report as one page, too'),
    list: flag('print every case with what it stands for, and run none'),
  },
  about: ABOUT,
  examples: [
    "audit http://localhost:3000/ipn --order-cmd 'npm run place-order' --probe-url 'http://localhost:3000/orders/{identifier}' --paid-when .status=paid",
    'audit --list',
  ],
  run: async (context) => {
    const { args, options, output, io } = context;
    const { list, junit, html, own, failOn, allowIpnHost, orders, probe, timeout, wait, ...chosen } = options;
    if (list) return listed();
    const [ipnUrl] = args;
    if (ipnUrl === undefined) throw missingUrl();
    const alsoFailing = verdictsOf(failOn ?? []);
    using interrupted = interruption('the audit', io);
    interrupted.soon.addEventListener('abort', () => {
      if (!interrupted.now.aborted)
        output.notice('Ending after the case under way. Ctrl-C again ends it at once.');
    });
    await requireWritable([junit, html], io.cwd);
    const { gateway, mask, stop } = own
      ? await ownEmulator(context)
      : await running(context, interrupted.now);
    try {
      const report = await gateway.audit({
        ...chosen,
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
    'What it stands for': ({ about }: (typeof cases)[number]) => about,
  };
  return { json: { cases }, text: table(columns, cases) };
}

function missingUrl(): GatewayError {
  return new GatewayError('usage', 'audit needs the address of the IPN handler', {
    hint: hint`Such as: ${command('audit', 'http://localhost:3000/ipn')}`,
  });
}

/** Verdicts that fail the command where the user says so, beside `fail`. */
const FAIL_ON: readonly string[] = ['at-risk', 'unproven'] satisfies AuditVerdict[];

function verdictsOf(given: readonly string[]): ReadonlySet<string> {
  const unknown = given.find((verdict) => !FAIL_ON.includes(verdict));
  if (unknown === undefined) return new Set(['fail', ...given]);
  throw new GatewayError('usage', `--fail-on takes ${FAIL_ON.join(' and ')} (got "${unknown}")`);
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
    ...(bad === 0 && broken && { failure: `the audit could not be carried out: ${onOneLine(control.why)}` }),
  };
}

interface Emulator {
  gateway: GatewaySimClient;
  /** Hides its secrets in a text. */
  mask: (text: string) => string;
  stop: () => Promise<void>;
}

/** The emulator that runs; an own one where none does and none was named. */
async function running(context: Context, cancelled: AbortSignal): Promise<Emulator> {
  const { connect, choice, output } = context;
  try {
    return await attached(await connect(), cancelled);
  } catch (error) {
    const isNamed = Object.values(choice).some((given) => given !== undefined);
    if (isNamed || !(error instanceof GatewayError) || error.code !== 'no_server') throw error;
    output.notice('gateway-sim: no emulator runs here: the audit starts its own, in memory');
    return ownEmulator(context);
  }
}

/** Speaks to an emulator that may hang: what it has not answered at the end is not waited for. */
async function attached(server: ControlServer, cancelled: AbortSignal): Promise<Emulator> {
  const keys = await requireMerchant(controlServer({ ...server, signal: cancelled }));
  const ended = new AbortController();
  setMaxListeners(0, ended.signal);
  const asked = controlServer({ ...server, signal: ended.signal });
  const mask = textMask([keys.secretKey, server.controlToken ?? '']);
  return { gateway: clientOf(asked, null, keys), mask, stop: async () => ended.abort() };
}

/** As `start` would run it here, but in memory: the shop finds it where it looks for the emulator. */
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
  const parts = [
    ...(found.length > unseen ? [`${found.length - unseen} payments differ`] : []),
    ...(unseen ? [`${unseen} could not be asked about`] : []),
  ];
  return parts.join(', ');
}

const agreement = (compared: number) =>
  compared
    ? `The shop and the emulator agree about ${compared === 1 ? 'the one payment' : `all ${compared} payments`}.`
    : 'There was nothing to compare.';

const whyNothing = (unseen: number) =>
  unseen
    ? `${unseen} payments, and the shop could be asked about none of them`
    : 'the emulator has no payments beside those of audits';

export const reconcile = defineCommand({
  summary: "compare the emulator's payments with what the shop knows of them",
  options: {
    ...PROBE,
    orderAmount: text('path', 'where the probe says what was paid, such as .total'),
    fulfilled: text('path', 'where the probe counts how often it was fulfilled, such as .shipments'),
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
