import { isTold } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditedCase } from '../contract/audit-report.ts';
import { GatewayError } from '../contract/error.ts';
import type { Code } from '../contract/signature.ts';
import { type AuditCase, evidence, type Finding, skipped } from './case.ts';
import { CONTROL } from './cases/control.ts';
import { Withheld } from './command.ts';
import { secretMask } from './gateway.ts';
import { fixText, languageOf } from './mistakes.ts';
import { isAboutOneOrder } from './probe.ts';
import { routeOf, type Shop } from './shop.ts';

/** Cases that run side by side. */
const LANES = 6;

/** The control first; what can run side by side; what must be alone; and at last what looks back at all of it. */
export async function runCases(
  shop: Shop,
  chosen: readonly AuditCase[],
  options: Pick<AuditOptions, 'onCase' | 'probes' | 'signal'>,
): Promise<AuditedCase[]> {
  const mask = secretMask(shop.parts.gateway);
  const done = new Map<AuditCase, AuditedCase>();
  const record = (one: AuditCase, finding: Finding) => {
    const language = languageOf(shop.seen.slice(0, TELLING).map(({ observation }) => observation));
    const audited = auditedCase(one, provenBy(shop, done.get(CONTROL), one, finding), { mask, language });
    done.set(one, audited);
    options.onCase?.(audited, done.size, chosen.length);
  };
  const run = (one: AuditCase) => {
    options.signal?.throwIfAborted();
    return findingOf(shop, one);
  };
  record(CONTROL, await run(CONTROL));
  options.signal?.throwIfAborted();
  const others = chosen.filter((one) => one !== CONTROL);
  const impossible = hopeless(done.get(CONTROL));
  for (const one of others) if (impossible && !needsNoControl(one, impossible)) record(one, impossible);
  const possible = others.filter((one) => !done.has(one));
  await runAll(possible, hasSharedProbe(options) ? 1 : LANES, run, record);
  return chosen.flatMap((one) => done.get(one) ?? []);
}

/** Answers in which the language of the shop is looked for. */
const TELLING = 30;

/** What a browser can do without any IPN is tried all the same, where orders can be placed. */
function needsNoControl({ group }: AuditCase, impossible: Finding): boolean {
  return impossible.verdict === 'skipped' && (group === 'return' || group === 'initiate');
}

/** Why nothing else can be tried. */
function hopeless(control: AuditedCase | undefined): Finding | undefined {
  if (control?.verdict === 'fail') {
    return skipped('the control failed: what refuses every IPN refuses forged ones, too');
  }
  if (control?.sent !== null) return undefined;
  return { ...skipped(`the control could not be carried out: ${control.why}`), verdict: 'unproven' };
}

/** A probe that sees all orders would take the effect of one case for that of another. */
function hasSharedProbe({ probes = {} }: Pick<AuditOptions, 'probes'>): boolean {
  return Object.values(probes).some((one) =>
    typeof one === 'string' ? !isAboutOneOrder(one) : one.length === 0,
  );
}

async function runAll(
  cases: readonly AuditCase[],
  lanes: number,
  run: (one: AuditCase) => Promise<Finding>,
  record: (one: AuditCase, finding: Finding) => void,
): Promise<void> {
  const again: AuditCase[] = [];
  await inLanes(
    cases.filter(({ alone, last }) => !alone && !last),
    lanes,
    async (one) => {
      const finding = await run(one);
      if (finding.again && lanes > 1) again.push(one);
      else record(one, finding);
    },
  );
  const alone = cases.filter((one) => one.alone && !one.last);
  const last = cases.filter((one) => one.last);
  for (const one of [...again, ...alone, ...last]) record(one, await run(one));
}

/** Runs a case; what cannot be carried out, and a shop that has ended, is a finding, too. */
async function findingOf(shop: Shop, one: AuditCase): Promise<Finding> {
  const seen = shop.seen.length;
  try {
    return await one.run(shop);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const { message } = error;
    if (error instanceof Withheld) return skipped(message);
    const ended = seen === 0 && one === CONTROL ? undefined : await shop.outage();
    const unproven: Finding = { ...skipped(ended?.text ?? message), verdict: 'unproven', observed: message };
    const [suspect, another] = ended?.suspects ?? [];
    const own = shop.seen.slice(seen).find(({ shot }) => shot === suspect);
    if (!ended || !own) return unproven;
    // Of several that were under way, the first answers for all: that the shop ended must not be missed.
    const why = another
      ? `${ended.text}. ${one.harm}`
      : `After this request nothing listens there any more: it probably ended the shop. ${one.harm}`;
    return { ...evidence(own.shot, own.observation), verdict: 'fail', why };
  }
}

/**
 * Refusing proves something only where the control has passed, and only at an address at which a genuine IPN is
 * accepted: what ignores everything, or listens nowhere, looks the same.
 */
function provenBy(shop: Shop, control: AuditedCase | undefined, one: AuditCase, finding: Finding): Finding {
  if (finding.verdict !== 'pass' || one === CONTROL) return finding;
  if (control?.verdict !== 'pass') {
    const why =
      'nothing shows that the handler does anything at all: one that ignores everything looks the same';
    return { ...finding, verdict: 'unproven', why };
  }
  const { url, status } = finding.answer ?? {};
  if (url === undefined || one.group === 'return' || !isNoHandler(status ?? null)) return finding;
  if (routeOf(url) === shop.calibration.route) return finding;
  const said = status === null ? 'there was no answer' : `it was answered ${status}`;
  return {
    ...finding,
    verdict: 'unproven',
    why: `${said} at ${url}, where no genuine IPN was accepted`,
  };
}

/** What comes back where no handler listens. */
const isNoHandler = (status: number | null) =>
  status === null || status === 404 || status === 405 || (status >= 300 && status < 400);

/** Rejects when all lanes have ended: what they have under way is done, and nothing else is begun. */
async function inLanes<Item>(
  items: readonly Item[],
  lanes: number,
  run: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = [...items];
  const lane = async () => {
    try {
      for (let item = queue.shift(); item !== undefined; item = queue.shift()) await run(item);
    } catch (error) {
      queue.length = 0;
      throw error;
    }
  };
  // Where one has failed, the others end what they have begun: nothing is under way any more when this does.
  const ended = await Promise.allSettled(Array.from({ length: lanes }, lane));
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}

/** @param mask hides the secrets that the shop may have shown, wherever the report goes */
function auditedCase(
  one: AuditCase,
  finding: Finding,
  { mask, language }: { mask: (text: string) => string; language: keyof Code | undefined },
): AuditedCase {
  const { verdict, sent, observed, why, curl, unpaid } = finding;
  const isBad = isTold(verdict);
  return {
    name: one.name,
    group: one.group,
    class: one.class,
    about: one.about,
    verdict,
    sent: sent && mask(sent),
    observed: observed && mask(observed),
    why: mask(why ?? (isBad ? one.harm : one.about)),
    mistake: isBad ? one.mistake : null,
    cost: isBad ? one.harm : null,
    fix: isBad ? (finding.fix ?? fixText(one.mistake, language)) : null,
    unpaid: (isBad && unpaid) || null,
    curl: curl && mask(curl),
  };
}
