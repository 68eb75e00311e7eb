import { setMaxListeners } from 'node:events';
import { ARTIFACTS } from '../../audit/artifacts.ts';
import type { AuditOptions } from '../../audit/audit-options.ts';
import type { AuditedCase, AuditMistake, AuditReport } from '../../audit/report.ts';
import { auditHeadline, severityIn } from '../../audit/summary.ts';
import { AUDIT_PRESETS, AUDIT_VERDICTS, type AuditVerdict, isReportable } from '../../audit/vocabulary.ts';
import { usage } from '../../contract/error.ts';
import { AUDIT_FIELDS } from '../../contract/request-fields.ts';
import { pluralize, shorten } from '../../contract/text.ts';
import { span } from '../../contract/time.ts';
import { namesOf } from '../../contract/vocabulary.ts';
import type { GatewaySimClient } from '../../library/api.ts';
import { auditReport, clientOf, egressOf } from '../../library/client.ts';
import { type ControlServer, controlServer } from '../../library/control-client.ts';
import { requireMerchant } from '../../library/merchant-client.ts';
import {
  type Context,
  choice,
  defineCommand,
  duration,
  flag,
  list,
  repeated,
  text,
  textsOf,
} from '../command.ts';
import { readConfiguration, startConfiguration } from '../configuration.ts';
import { isNoneNamed } from '../connect.ts';
import { InterruptedAudit } from '../interrupted-audit.ts';
import { pairs, table } from '../output.ts';
import { type Colours, onOneLine, Printed } from '../printed.ts';
import { interruption } from '../signals.ts';
import { requireWritable, unwrittenFailure, writeReports } from '../write-file.ts';

const ABOUT = `
The audit places orders in your shop, and attacks its IPN handler and return page as real attackers and gateways do.
Your probe shows how the shop reacted. The audit settles only its own payments. Its orders stay in the shop's database.

{identifier} is replaced with the identifier of an order; in a command, with "$GATEWAY_SIM_IDENTIFIER", quotes included.
{trx}, {amount}, {ipn_url}, {success_url} and {order} work the same way. Commands also get GATEWAY_SIM_URL,
GATEWAY_SIM_INITIATE_URL and the keys in their environment. Without a probe and --db, the audit
looks for an address of the order itself; if it finds none, little can be proven.

The exit code is 1 if a case fails, and 2 if the audit proves nothing or was cut short: the first line says why.`;

const PROBE = {
  probeCmd: text(
    'command',
    'command that prints an order; must contain the placeholder {identifier}, without quotes',
  ),
  ...textsOf({ probeUrl: AUDIT_FIELDS.probeUrl, paidWhen: AUDIT_FIELDS.paidWhen }),
};

const ROWS = {
  db: text(
    'database',
    "the shop's database instead of a probe: sqlite:<file>, mysql://user@host/name or postgres://user@host/name",
  ),
  dbCmd: text('command', 'command that prints its rows as INSERT statements with the names of the columns'),
  dbSkip: list('tables', 'do not read these tables; repeatable'),
};

/** An audit that takes longer says so at its beginning (milliseconds). */
const LONG_MS = 10_000;

/** Verdicts that `--fail-on` accepts, in addition to `fail`. */
const FAIL_ON: readonly string[] = ['at-risk', 'unproven'] satisfies AuditVerdict[];

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
    ...textsOf({ orderUrl: AUDIT_FIELDS.orderUrl }),
    ...PROBE,
    ...textsOf({ orderAmount: AUDIT_FIELDS.orderAmount, confirmUrl: AUDIT_FIELDS.confirmUrl }),
    log: repeated('path', `${AUDIT_FIELDS.log.description}; repeatable`),
    only: list('names', `${AUDIT_FIELDS.only.description}; repeatable`),
  },
  options: {
    ...ROWS,
    effect: repeated(
      'effect',
      'another effect that must happen once per payment: name=<command or url>, or a column of --db such as stock.count; repeatable',
    ),
    ...textsOf({ orders: AUDIT_FIELDS.orders }),
    shop: text(
      'command',
      'command that starts the shop; the audit starts it again after a crash, and ends it',
    ),
    wait: duration('wait up to this long for the shop to accept connections'),
    failOn: list('verdicts', 'also exit 1 on these verdicts: at-risk, unproven; repeatable'),
    timeout: duration(
      'time limit for each request, order and probe, such as 5s (default: 30s; 15s for an order, 10s for a probe address)',
    ),
    html: text('file', 'also write the report as an HTML page'),
    thorough: flag('try every case (default: those that decide something different)'),
    resume: flag('continue an audit that was interrupted in this folder'),
    all: flag('print every case of each mistake, and the fixes in all languages'),
    check: flag('only try the set-up: one order, its correct IPN, the probe and the condition'),
  },
  about: ABOUT,
  examples: [
    "audit http://localhost:3000/ipn --order-cmd 'npm run place-order' --probe-url 'http://localhost:3000/orders/{identifier}' --paid-when .status=paid",
    'audit http://localhost:3000/ipn --preset plain',
  ],
  run: async (context) => {
    const { args, fields, options, output, io } = context;
    const { html, failOn = [], orders, effect, timeout, wait } = options;
    const [ipnUrl] = args;
    const unknown = failOn.find((verdict) => !FAIL_ON.includes(verdict));
    if (unknown !== undefined) throw usage(`--fail-on accepts ${FAIL_ON.join(' and ')} (got "${unknown}")`);
    using interrupted = interruption('the audit', io);
    interrupted.soon.addEventListener('abort', () => {
      if (!interrupted.now.aborted)
        output.notice('Stopping after the current case. Press Ctrl-C again to stop immediately.');
    });
    if (html !== undefined) await requireWritable(html, io.cwd);
    const { only, ...asks } = fields;
    const asked = {
      ...asks,
      ipnUrl,
      ...effectsIn(effect),
      db: options.db,
      dbCmd: options.dbCmd,
      dbSkip: options.dbSkip,
      shop: options.shop,
      timeoutMs: timeout,
      thorough: options.thorough,
    };
    const kept = new InterruptedAudit(io.cwd, asked);
    const earlier = options.resume ? await kept.resume() : undefined;
    if (earlier) output.notice(`${pluralize(earlier.length, 'case')} from the interrupted audit`);
    const { gateway, server, stop } = await emulatorFor(context, interrupted.now);
    try {
      const report = await auditReport(gateway, server, {
        ...asked,
        only: options.check ? ['control'] : only,
        signal: interrupted.soon,
        cancelled: interrupted.now,
        finished: earlier,
        waitMs: wait,
        ...(orders !== undefined && { orders: Number(orders) }),
        onCase: (audited, { done, of, leftMs }) => {
          const { name, verdict, why } = audited;
          kept.finished.push(audited);
          const left = leftMs < 1_000 ? '' : `, about ${span(leftMs, 1)} left`;
          // The control is the first, so this is the estimate for the whole audit.
          if (done === 1 && leftMs > LONG_MS) output.notice(`${pluralize(of, 'case')}${left}`);
          if (verdict === 'fail') output.notice(`FAIL ${name}: ${why}`);
          output.progress(`${done} of ${of} cases${left} (${name})`, performance.now());
        },
        onNotice: (text) => output.notice(`gateway-sim: ${text}`),
      });
      const artifacts = io.env[ARTIFACTS];
      const { auditReports, htmlReport } = await import('../../audit/reports.ts');
      const shownUrl = output.secrets.mask(ipnUrl ?? fields.orderUrl ?? 'the shop');
      const unwritten = await writeReports(
        [
          ...(artifacts ? auditReports(artifacts, report, shownUrl) : []),
          [html, () => htmlReport(report, shownUrl)],
        ],
        io.cwd,
      );
      const { cases, missing } = report;
      const isKept = async () => {
        if (options.check) return false;
        if (interrupted.soon.aborted) return kept.keep(earlier);
        // An audit of some cases has not finished the earlier one.
        if (missing === null && (earlier || !only)) await kept.forget();
        return false;
      };
      let unkept = {};
      const mayResume = await isKept().catch((cause) => {
        unkept = unwrittenFailure(InterruptedAudit.file, cause);
      });
      if (mayResume) output.notice('To continue, repeat the command with --resume.');
      const bad = cases.filter(({ verdict }) => verdict === 'fail' || failOn.includes(verdict)).length;
      return {
        json: report,
        text: options.check ? checkText(report) : auditText(report, output.colour, options.all),
        ...(bad > 0 && { failure: `${bad} of ${cases.length} cases failed` }),
        ...(missing !== null && { failure: onOneLine(missing), failureCode: 'usage' }),
        isInterrupted: interrupted.soon.aborted,
        ...unkept,
        ...unwritten,
      };
    } finally {
      await stop();
    }
  },
});

/** Effects with a probe of their own, by name, and those that are columns of the database. */
function effectsIn(texts: readonly string[] = []): Pick<AuditOptions, 'probes' | 'effects'> {
  const probes: Record<string, string> = {};
  const effects: string[] = [];
  for (const text of texts) {
    const [, name, probe] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
    if (name === undefined || probe === undefined) effects.push(...text.split(','));
    else probes[name] = probe;
  }
  return { probes, effects };
}

/** The result of `--check`: what each part did, and the one that is wrong. */
function checkText({ check, cases }: AuditReport): string {
  const { wrong = null, order = null, before = null, answer = null, after = null } = check ?? {};
  const said = (text: string | null) => onOneLine(shorten(text ?? 'nothing', 200));
  const [control] = cases;
  const result =
    wrong === null
      ? 'OK: order, probe, condition and handler work.'
      : `The ${wrong} does not work: ${control?.why ?? ''}`;
  return pairs({
    Result: onOneLine(result),
    Order: said(order),
    'Probe before': said(before),
    Handler: said(answer),
    'Probe after': said(after),
  });
}

interface Emulator {
  gateway: GatewaySimClient;
  server: ControlServer;
  stop: () => Promise<void>;
}

/** The running emulator, or a new one if none is running and the user named none. */
async function emulatorFor(context: Context, cancelled: AbortSignal): Promise<Emulator> {
  const { connect, choice, output } = context;
  try {
    const server = await connect();
    const keys = await requireMerchant(controlServer({ ...server, signal: cancelled }));
    output.secrets.add([keys.secretKey, server.controlToken ?? '']);
    // Cancels open requests at the end, in case the emulator hangs.
    const ended = new AbortController();
    setMaxListeners(0, ended.signal);
    const endable = controlServer({ ...server, signal: ended.signal });
    return {
      gateway: clientOf(endable, null, keys),
      server: endable,
      stop: async () => ended.abort(),
    };
  } catch (error) {
    if (!isNoneNamed(error, choice)) throw error;
    output.notice(
      'gateway-sim: no emulator found, so the audit starts its own in memory; to use a running one, set --url',
    );
    return ownEmulator(context);
  }
}

/** As `start` would run it here, but in memory, so that the shop finds it at the usual address. */
async function ownEmulator({ io, output }: Context): Promise<Emulator> {
  const { startEmulator } = await import('../start-emulator.ts');
  const file = await readConfiguration(io);
  const emulator = await startEmulator(startConfiguration({ inMemory: true }, io.env, file), output);
  const { controlToken, secretKey, stop } = emulator;
  output.secrets.add([secretKey, controlToken ?? '']);
  const server = controlServer(emulator);
  return { gateway: clientOf(server, controlToken, emulator), server, stop };
}

const COLOURS = {
  pass: 'green',
  fail: 'red',
  'at-risk': 'yellow',
  note: 'blue',
  unproven: 'cyan',
  skipped: 'gray',
} as const satisfies Record<AuditVerdict, keyof Colours>;

const TO_REPEAT =
  'To repeat a request, place a new order, and replace the identifier, the token and, if the IPN is signed, the signature.';
const FEW = 8;
const few = (names: readonly string[]) =>
  names.length > FEW
    ? `${names.slice(0, FEW).join(', ')} and ${names.length - FEW} others (--all)`
    : names.join(', ');

/** A report as text: the result, each mistake with its fix and cases, cases that prove nothing, and the counts. */
export function auditText(report: AuditReport, colour: Colours, isWhole = false): Printed {
  const { cases, summary, mistakes, orders } = report;
  const indented = (text: string) => text.replace(/^/gm, '    ');
  // Commands and code stay whole.
  const flowing = (line: Printed) => line.wrapped(' '.repeat(line.text.search(/\S/) + 2));
  const caseText = ({ name, verdict, about, observed, why, cost, curl }: AuditedCase) => [
    flowing(
      Printed.line`  ${colour[COLOURS[verdict]](verdict.toUpperCase())} ${colour.bold(name)}: ${about}`,
    ),
    ...(observed === null ? [] : [flowing(Printed.line`    Result: ${observed}.`)]),
    ...(why === cost ? [] : [flowing(Printed.line`    ${why}`)]),
    ...(curl === null ? [] : [indented(curl)]),
  ];
  const byName = new Map(cases.map((one) => [one.name, one]));
  /** What the protocol itself allows: one line each, unless everything is shown. */
  const isShort = (mistake: AuditMistake) => !isWhole && severityIn(mistake, cases) === 'at risk';
  const risks = mistakes
    .filter(isShort)
    .map(({ name, instruction, cases: names }) =>
      flowing(Printed.line`  ${colour.yellow('at-risk')} ${name} (${few(names)}): ${instruction}`),
    );
  const whole = mistakes.filter((mistake) => !isShort(mistake));
  const paragraphs = whole.map(({ name, cost, fix, instruction, code, cases: names }) => {
    const languages = Object.keys(code ?? {});
    const inShort =
      languages.length > 1 ? flowing(Printed.line`    ${instruction ?? ''} (As code: --all)`) : indented(fix);
    const shown = names.flatMap((one) => byName.get(one) ?? []);
    const [first, ...others] = shown;
    return [
      flowing(Printed.line`${colour.bold(name)}: ${cost}`),
      '  How to fix it:',
      isWhole ? indented(fix) : inShort,
      ...(isWhole ? shown.flatMap(caseText) : first ? caseText(first) : []),
      ...(isWhole || !others.length
        ? []
        : [flowing(Printed.line`  Also: ${others.map((one) => one.name).join(', ')}`)]),
    ];
  });
  /** Cases that prove nothing, grouped by reason. */
  const quiet = new Map<string, { verdict: AuditVerdict; why: string; names: string[] }>();
  for (const { name, verdict, why } of cases) {
    if (verdict === 'pass' || isReportable(verdict)) continue;
    const group = quiet.get(`${verdict}: ${why}`) ?? { verdict, why, names: [] };
    quiet.set(`${verdict}: ${why}`, group);
    group.names.push(name);
  }
  const quietLines = [...quiet.values()].map(({ verdict, why, names }) =>
    flowing(
      Printed.line`  ${colour[COLOURS[verdict]](verdict)} ${isWhole ? names.join(', ') : few(names)}: ${why}`,
    ),
  );
  const counts = namesOf(AUDIT_VERDICTS)
    .filter((verdict) => summary[verdict] > 0)
    .map((verdict) => colour[COLOURS[verdict]](`${summary[verdict]} ${verdict}`));
  const left = orders
    ? `This audit left ${pluralize(orders, 'order')} in the shop's database.`
    : 'This audit saw no new order in the shop.';
  const prose = (text: string) => flowing(Printed.line`${text}`);
  const all = [
    [flowing(colour.bold(auditHeadline(report)))],
    ...paragraphs,
    [...risks, ...quietLines],
    ...(whole.length ? [[prose(TO_REPEAT)]] : []),
    [flowing(Printed.line`${pluralize(cases.length, 'case')}: ${Printed.lines(counts, ', ')}. ${left}`)],
  ];
  const shown = all.filter((lines) => lines.length).map((lines) => Printed.lines(lines));
  return Printed.lines(shown, '\n\n');
}

export const reconcile = defineCommand({
  summary: "compare the emulator's payments with the shop's orders",
  options: {
    ...PROBE,
    ...ROWS,
    ...textsOf({ orderAmount: AUDIT_FIELDS.orderAmount }),
    fulfilled: text('path', 'path of the number of fulfilments in the probe output, such as .shipments'),
  },
  examples: ["reconcile --probe-cmd './order-status {identifier}' --paid-when /paid/"],
  run: async ({ options, connect, io, output }) => {
    using interrupted = interruption('the comparison', io);
    const server = controlServer({ ...(await connect()), signal: interrupted.soon });
    const gateway = clientOf(server, null, await requireMerchant(server));
    output.secrets.add([gateway.secretKey, server.controlToken ?? '']);
    const egress = await egressOf(server);
    const { reconcile } = await import('../../audit/reconcile.ts');
    const { compared, found: differences } = await reconcile(
      { ...gateway, egress, mask: output.secrets.mask },
      { ...options, cancelled: interrupted.soon },
    );
    const rows = table(
      {
        Identifier: ({ identifier }) => identifier,
        Problem: ({ problem }) => problem,
        Detail: ({ detail }) => detail,
      },
      differences,
    );
    const count = differences.length;
    const unseen = differences.filter(({ problem }) => problem === 'not-probed').length;
    const wrong = count - unseen;
    const problems = [
      ...(wrong ? [wrong === 1 ? '1 payment differs' : `${wrong} payments differ`] : []),
      ...(unseen ? [`${unseen} could not be probed`] : []),
    ];
    const agreement = `The shop and the emulator agree on ${compared === 1 ? '1 payment' : `all ${compared} payments`}.`;
    const whyNothing = count
      ? `the probe worked for none of the ${count} payments`
      : 'the emulator has no payments, except those of audits';
    return {
      json: { data: differences },
      text: rows || (compared ? agreement : 'Nothing to compare.'),
      ...(count > 0 && { failure: `${problems.join(', ')} (${compared} compared)` }),
      ...(compared === 0 && { failure: `nothing was compared: ${whyNothing}`, failureCode: 'usage' }),
    };
  },
});
