import { type AuditVerdict, isTold } from '../contract/audit.ts';
import type { AuditOptions } from '../contract/audit-options.ts';
import type { AuditedCase } from '../contract/audit-report.ts';
import { GatewayError } from '../contract/error.ts';
import { type AuditCase, evidence, type Finding, skipped } from './case.ts';
import { CONTROL } from './cases/control.ts';
import { Withheld } from './command.ts';
import { secretMask } from './gateway.ts';
import { mendText } from './mends.ts';
import { isAboutOneOrder } from './probe.ts';
import type { Shop } from './shop.ts';

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
    const audited = auditedCase(one, provenBy(done.get(CONTROL), one, finding), mask);
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
  if (impossible) for (const one of others) record(one, impossible);
  else await runAll(others, hasSharedProbe(options) ? 1 : LANES, run, record);
  return chosen.flatMap((one) => done.get(one) ?? []);
}

/** Why nothing else can be tried. */
function hopeless(control: AuditedCase | undefined): Finding | undefined {
  if (control?.verdict === 'fail') {
    return skipped('the control failed: nothing that follows would mean anything');
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
 * Without a control that shows that the handler does something, refusing is no merit: one that ignores everything
 * would pass. What the shop asks for at initiate is seen all the same.
 */
function provenBy(control: AuditedCase | undefined, one: AuditCase, finding: Finding): Finding {
  const isProven = one === CONTROL || control?.verdict === 'pass' || one.group === 'initiate';
  if (finding.verdict !== 'pass' || isProven) return finding;
  const why =
    'nothing shows that the handler does anything at all: one that ignores everything looks the same';
  return { ...finding, verdict: 'unproven', why };
}

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

const WHY: Readonly<Record<AuditVerdict, (one: AuditCase) => string>> = {
  pass: ({ about }) => about,
  fail: ({ harm }) => harm,
  exposed: ({ harm }) => harm,
  unproven: ({ about }) => about,
  skipped: ({ about }) => about,
};

/** @param mask hides the secrets that the shop may have shown, wherever the report goes */
function auditedCase(one: AuditCase, finding: Finding, mask: (text: string) => string): AuditedCase {
  const { verdict, sent, observed, why, curl } = finding;
  return {
    name: one.name,
    group: one.group,
    class: one.class,
    about: one.about,
    verdict,
    sent: sent && mask(sent),
    observed: observed && mask(observed),
    why: mask(why ?? WHY[verdict](one)),
    mend: isTold(verdict) ? mendText(one.mend) : null,
    curl: curl && mask(curl),
  };
}
