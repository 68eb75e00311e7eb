import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { PLAIN } from '../../../../src/contract/error.ts';
import { FaultRule } from '../../../../src/contract/fault.ts';
import { FAULT_EFFECTS } from '../../../../src/contract/fault-effects.ts';
import { commandFor, FAULT_PRESETS } from '../../../../src/http/pages/dashboard/faults.tsx';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { startReceiver } from '../../../helpers/receiver.ts';
import { paid, type Sim, startSim } from '../../../helpers/sim.ts';

const PAGE = '/_sim/ui/faults';
const rules = ({ server }: Sim) => server.parts.faults.list.map(({ rule }) => rule);

/** The forms for an effect, by the last part of their action. */
async function effectForms(sim: Sim, effect: string): Promise<Map<string, string>> {
  const html = await pageOf(sim, `${PAGE}?effect=${effect}`);
  const all = [...html.matchAll(/<form method="post" action="[^"]*\/(\w+)".*?<\/form>/gs)];
  return new Map(all.map(([form, to = '']) => [to, form] as const).filter(([to]) => to in FAULT_EFFECTS));
}

const namesIn = (form = '') =>
  [...form.matchAll(/<(?:input|select)[^>]* name="(\w+)"/g)].map(([, name]) => name).sort();

describe('a fault preset', () => {
  it.each(Object.entries(FAULT_PRESETS))('%s takes one click', async (name, { label, does, rule }) => {
    const sim = await startSim();
    const html = await pageOf(sim, PAGE);
    expect(html).toContain(`value="${name}" class="plain">${label}</button>`);
    expect(html).toContain(does);
    const answer = await postForm(sim, `${PAGE}/preset`, { preset: name });
    expect([answer.status, answer.location]).toEqual([303, PAGE]);
    expect(rules(sim)).toEqual([rule]);
  });

  it.each(['toString', 'recevier-down', ''])('cannot have the unknown name "%s"', async (preset) => {
    const sim = await startSim();
    const answer = await postForm(sim, `${PAGE}/preset`, { preset });
    expect([answer.status, rules(sim)]).toEqual([422, []]);
    expect(answer.html).toContain('preset must be one of receiver-down');
  });
});

describe('the form for a fault', () => {
  it('has only the fields that apply', async () => {
    const sim = await startSim();
    const namesFor = async (effect: string) => namesIn((await effectForms(sim, effect)).get(effect));
    expect(await namesFor('status')).toEqual(['from', 'identifier', 'route', 'status', 'times']);
    expect(await namesFor('drop')).toEqual(['from', 'identifier', 'route', 'times']);
    const delay = (await effectForms(sim, 'delay')).get('delay');
    expect(delay).toContain('type="hidden" name="route" value="ipn"');
    for (const effect of Object.keys(FAULT_EFFECTS)) {
      expect([...(await effectForms(sim, effect)).keys()]).toEqual([effect]);
      expect(await namesFor(effect)).toContain('route');
    }
  });

  it('shows the status effect by default, and keeps the selected effect', async () => {
    const sim = await startSim();
    const chosen = async (effect: string) => [...(await effectForms(sim, effect)).keys()];
    expect([await chosen(''), await chosen('toString')]).toEqual([['status'], ['status']]);
    const from = `${PAGE}?effect=drop`;
    const answer = await postForm(sim, `${PAGE}/drop`, { route: 'ipn', from });
    expect([answer.location, rules(sim)]).toEqual([from, [{ route: 'ipn', drop: true }]]);
  });

  it.each(Object.entries(FAULT_EFFECTS))('works with the defaults for %s', async (effect, about) => {
    const sim = await startSim();
    const value = 'sample' in about ? { [effect]: about.sample } : {};
    const given = { route: 'ipn', times: '', identifier: '', ...value };
    expect((await postForm(sim, `${PAGE}/${effect}`, given)).status).toBe(303);
    expect(rules(sim)).toEqual([
      { route: 'ipn', [effect]: effect === 'status' ? 503 : (value[effect] ?? true) },
    ]);
  });

  it.each([
    ['status', { status: '7' }, 'status must be a whole number from 200 to 599'],
    ['status', { status: '503', times: 'twice' }, 'times must be a whole number from 1 to 1000000'],
    ['malformed', { route: 'checkout' }, 'malformed does not work with pages'],
  ])(
    'with the effect %s rejects %j with an explanation, and keeps the input',
    async (effect, wrong, problem) => {
      const sim = await startSim();
      const given = { route: 'initiate', identifier: 'order-*', ...wrong };
      const answer = await postForm(sim, `${PAGE}/${effect}`, given);
      expect([answer.status, rules(sim)]).toEqual([422, []]);
      expect(answer.html).toContain(problem);
      expect(answer.html).toMatch(new RegExp(`effect=${effect}" aria-current="true"`));
      expect(answer.html.match(/value="order-\*"/g)).toHaveLength(1);
    },
  );

  it('says only once that a rule is spent', async () => {
    const sim = await startSim();
    await postForm(sim, `${PAGE}/drop`, { route: 'initiate', times: '1' });
    await fetch(`${sim.url}/sandbox/payment/initiate`, { method: 'POST' }).catch(() => {});
    const html = await pageOf(sim, PAGE);
    expect(html.match(/spent/g)).toHaveLength(1);
    expect(html).toContain('once (spent)');
  });
});

it('the page of an IPN names the rule that changed it, next to the attempt and the signature', async () => {
  const receiver = await startReceiver([{ status: 400 }]);
  const sim = await startSim({ ipnSchedule: ['1h'] });
  const { clock, faults } = sim.server.parts;
  await clock.move({ freeze: 'now' });
  faults.set({ route: 'ipn', corruptSignature: true });
  const { delivery } = await paid(sim, { ipn_url: `${receiver.url}/ipn` });
  const html = await pageOf(sim, `/_sim/ui/ipns/${delivery?.id}`);
  const fault = 'Fault: signature corrupted (your rule)';
  expect(html).toContain(`<dd>${fault}. Your handler answered 400.</dd>`);
  expect(html).toContain(`<p class="warning">${fault}</p>`);
  expect(html).not.toContain('matches neither');
  expect(html).toMatch(/data-verdict="waiting".*>Resend<\/button>.*>Show the rules<\/a>/s);
  expect(html).toContain('Your shop: rejected a corrupted IPN (400), retry scheduled</span>');
  expect(html).toContain('<strong>Nothing to fix. A retry is scheduled.</strong>');
});

describe.each(Object.values(FAULT_PRESETS))('the preset $label', ({ label, does, rule }) => {
  it('is a valid rule', () => {
    expect(FaultRule.safeParse(rule).success).toBe(true);
  });

  it('is documented with its command', async () => {
    const text = await readFile(new URL('../../../../src/docs/faults.md', import.meta.url), 'utf8');
    const run = PLAIN.command(commandFor(rule)).replace('gateway-sim ', '');
    expect(text).toContain(`| ${label} | \`${run}\` | ${does} |`);
  });
});
