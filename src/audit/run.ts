import { isReportable } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditedCase } from '../contract/audit-report.ts';
import { GatewayError } from '../contract/error.ts';
import type { Code } from '../wire/dialect.ts';
import { type AuditCase, evidence, type Finding, skipped } from './case.ts';
import { CONTROL } from './cases/control.ts';
import { HARM as BREAKS } from './cases/robustness.ts';
import { Withheld } from './command.ts';
import { secretMask } from './gateway.ts';
import { type Fix, languageOf, MISTAKE_FIXES } from './mistakes.ts';
import { isAboutOneOrder } from './probe.ts';
import { routeOf, type Shop } from './shop.ts';

/** Maximum concurrent cases. */
const CONCURRENCY = 6;

/**
 * Runs the control, then concurrent cases, then cases that must run alone, and finally the cases that check all others.
 */
export async function runCases(
  shop: Shop,
  chosen: readonly AuditCase[],
  options: Pick<AuditOptions, 'onCase' | 'probes' | 'signal'>,
): Promise<AuditedCase[]> {
  const mask = secretMask(shop.parts.gateway);
  const expected = shop.parts.tools.signatureCode();
  const done = new Map<AuditCase, AuditedCase>();
  const record = (one: AuditCase, finding: Finding) => {
    const language = languageOf(shop.seen.slice(0, LANGUAGE_SAMPLE).map(({ observation }) => observation));
    const audited = auditedCase(one, provenBy(shop, done.get(CONTROL), one, finding), {
      mask,
      language,
      expected,
    });
    done.set(one, audited);
    options.onCase?.(audited, done.size, chosen.length);
  };
  const run = (one: AuditCase) => {
    options.signal?.throwIfAborted();
    return shop.during(() => findingOf(shop, one));
  };
  record(CONTROL, await run(CONTROL));
  options.signal?.throwIfAborted();
  const others = chosen.filter((one) => one !== CONTROL);
  const impossible = whyNothingElseRuns(done.get(CONTROL));
  for (const one of others) if (impossible && !needsNoControl(one, impossible)) record(one, impossible);
  const possible = others.filter((one) => !done.has(one));
  await runAll(possible, hasSharedProbe(options) ? 1 : CONCURRENCY, run, record);
  return withOneCause(chosen.flatMap((one) => done.get(one) ?? []));
}

/** A shop that accepts any signature accepts everything an attacker sends: one mistake, and one fix. */
function withOneCause(cases: AuditedCase[]): AuditedCase[] {
  const any = cases.find(({ name }) => name === 'signature-garbage');
  if (!any?.unpaid) return cases;
  const { mistake, cost, fix, instruction, code } = any;
  return cases.map((one) =>
    one.mistake && one.group === 'sender' ? { ...one, mistake, cost, fix, instruction, code } : one,
  );
}

/** The number of responses that are searched for the shop's language. */
const LANGUAGE_SAMPLE = 30;

/** Attacks from a browser need no IPN, only orders. */
function needsNoControl({ group }: AuditCase, impossible: Finding): boolean {
  return impossible.verdict === 'skipped' && (group === 'return' || group === 'initiate');
}

/** Why no other case can run. */
function whyNothingElseRuns(control: AuditedCase | undefined): Finding | undefined {
  if (control?.verdict === 'fail') {
    return skipped('the control failed: a shop that rejects every IPN also rejects forged ones');
  }
  if (control?.sent !== null) return undefined;
  return { ...skipped(`the control could not run: ${control.why}`), verdict: 'unproven' };
}

/** With a probe of the whole shop, the effect of one case would look like the effect of another. */
function hasSharedProbe({ probes = {} }: Pick<AuditOptions, 'probes'>): boolean {
  return Object.values(probes).some((one) =>
    typeof one === 'string' ? !isAboutOneOrder(one) : one.length === 0,
  );
}

async function runAll(
  cases: readonly AuditCase[],
  limit: number,
  run: (one: AuditCase) => Promise<Finding>,
  record: (one: AuditCase, finding: Finding) => void,
): Promise<void> {
  const again: AuditCase[] = [];
  await runConcurrently(
    cases.filter(({ alone, last }) => !alone && !last),
    limit,
    async (one) => {
      const finding = await run(one);
      if (finding.again && limit > 1) again.push(one);
      else record(one, finding);
    },
  );
  const alone = cases.filter((one) => one.alone && !one.last);
  const last = cases.filter((one) => one.last);
  for (const one of [...again, ...alone, ...last]) record(one, await run(one));
}

/** Runs a case. A case that cannot run, or that crashes the shop, is also a finding. */
async function findingOf(shop: Shop, one: AuditCase): Promise<Finding> {
  try {
    return await one.run(shop);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { message } = error;
    if (error instanceof Withheld) return skipped(message);
    const ended = one === CONTROL ? undefined : await shop.outage();
    const unproven: Finding = {
      ...skipped(ended ? `the shop ${ended.how}` : message),
      verdict: 'unproven',
      observed: message,
    };
    const [suspect, another] = ended?.suspects ?? [];
    if (!ended || !suspect || !shop.claimCrash(suspect)) return unproven;
    // If several requests were running, blame the first: a crash must not be missed.
    const why = another
      ? `The shop ${ended.how}.`
      : 'This request probably crashed your shop, which no longer accepts connections.';
    // Whatever the case tried, a crash shows only that the handler breaks.
    const because = { mistake: 'handler-breaks', harm: BREAKS } as const;
    return { ...evidence(suspect.request, suspect.observation), verdict: 'fail', why, because };
  }
}

/**
 * A rejection proves something only if the control passed, and only at an address that accepts a genuine IPN. A missing
 * handler, or one that ignores everything, looks the same.
 */
function provenBy(shop: Shop, control: AuditedCase | undefined, one: AuditCase, finding: Finding): Finding {
  if (finding.verdict !== 'pass' || one === CONTROL) return finding;
  if (control?.verdict !== 'pass') {
    const why = 'nothing shows that the handler works: one that ignores every request looks the same';
    return { ...finding, verdict: 'unproven', why };
  }
  const { url, status } = finding.answer ?? {};
  if (url === undefined || !isNoHandler(status ?? null)) return finding;
  const isReturn = one.group === 'return';
  if (isReturn ? status !== null : routeOf(url) === shop.calibration.route) return finding;
  const problem = `${status === null ? 'no response' : `status ${status}`} from ${url}`;
  const why = isReturn ? problem : `${problem}, which has not accepted a genuine IPN`;
  return { ...finding, verdict: 'unproven', why };
}

/** Whether a response may come from a server without a handler. */
const isNoHandler = (status: number | null) =>
  status === null || status === 404 || status === 405 || (status >= 300 && status < 400);

/** After a failure, starts nothing else, but finishes what is running before it rejects. */
async function runConcurrently<Item>(
  items: readonly Item[],
  limit: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const work = async () => {
    try {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
    } catch (error) {
      queue.length = 0;
      throw error;
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: limit }, work));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** @param mask hides secrets that the shop may have revealed */
function auditedCase(
  one: AuditCase,
  finding: Finding,
  {
    mask,
    language,
    expected,
  }: { mask: (text: string) => string; language: keyof Code | undefined; expected: Code },
): AuditedCase {
  const { verdict, sent, observed, why, curl, unpaid, because = one } = finding;
  const isBad = isReportable(verdict);
  const known: Fix = finding.fix ?? MISTAKE_FIXES[because.mistake];
  const codes = typeof known.code === 'function' ? known.code(expected) : known.code;
  const code = codes && language ? { [language]: codes[language] } : codes;
  const lines = Object.entries(code ?? {}).map(([of, line]) => `${of}: ${line}`);
  return {
    name: one.name,
    group: one.group,
    class: one.class,
    about: one.about,
    verdict,
    sent: sent && mask(sent),
    observed: observed && mask(observed),
    why: mask(why ?? (isBad ? because.harm : one.about)),
    mistake: isBad ? because.mistake : null,
    cost: isBad ? because.harm : null,
    fix: isBad ? [known.text, ...lines].join('\n') : null,
    instruction: isBad ? known.text : null,
    code: (isBad && code) || null,
    unpaid: (isBad && unpaid) || null,
    curl: curl && mask(curl),
  };
}
