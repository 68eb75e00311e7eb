import { describe, expect, it } from 'vitest';
import { FAULT_EFFECTS } from '../../src/contract/fault-effects.ts';
import { FAULT_PRESETS } from '../../src/contract/fault-presets.ts';
import { pageOf, postForm } from '../helpers/forms.ts';
import { type Sim, startSim } from '../helpers/sim.ts';

const PAGE = '/_sim/ui/faults';
const rules = ({ server }: Sim) => server.parts.faults.list.map(({ rule }) => rule);

/** The forms of the page by the address that they post to. */
async function forms(sim: Sim): Promise<Map<string, string>> {
  const html = await pageOf(sim, PAGE);
  return new Map(
    [...html.matchAll(/<form method="post" action="([^"]*)".*?<\/form>/gs)].map(([form, to = '']) => [
      to,
      form,
    ]),
  );
}

const namesIn = (form = '') =>
  [...form.matchAll(/<(?:input|select)[^>]* name="(\w+)"/g)].map(([, name]) => name).sort();

describe('a preset of faults', () => {
  it.each(Object.entries(FAULT_PRESETS))('%s is set at one press', async (name, { label, does, rule }) => {
    const sim = await startSim();
    const html = await pageOf(sim, PAGE);
    expect(html).toContain(`value="${name}" class="plain">${label}</button>`);
    expect(html).toContain(does);
    const answer = await postForm(sim, `${PAGE}/preset`, { preset: name });
    expect([answer.status, answer.location]).toEqual([303, PAGE]);
    expect(rules(sim)).toEqual([rule]);
  });

  it.each(['toString', 'recevier-down', ''])('that is none is refused: "%s"', async (preset) => {
    const sim = await startSim();
    const answer = await postForm(sim, `${PAGE}/preset`, { preset });
    expect([answer.status, rules(sim)]).toEqual([422, []]);
    expect(answer.html).toContain('preset must be one of receiver-down');
  });
});

describe('the form of a fault', () => {
  it('asks only for what applies to it', async () => {
    const all = await forms(await startSim());
    const asked = (effect: string) => namesIn(all.get(`${PAGE}/${effect}`));
    expect(asked('status')).toEqual(['identifier', 'route', 'status', 'times']);
    expect(asked('drop')).toEqual(['identifier', 'route', 'times']);
    expect(all.get(`${PAGE}/delay`)).toContain('type="hidden" name="route" value="ipn"');
    for (const effect of Object.keys(FAULT_EFFECTS)) expect(asked(effect)).toContain('route');
  });

  it.each(Object.entries(FAULT_EFFECTS))('of %s works as it comes', async (effect, about) => {
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
    ['status', { status: 'broken' }, 'status must be a whole number from 200 to 599'],
    ['status', { status: '503', times: 'twice' }, 'times must be a whole number from 1 to 1000000'],
    ['latency', { latency: 'soon' }, 'latency must be a duration such as 2s'],
    ['malformed', { route: 'checkout' }, 'malformed is not for pages'],
    ['drop', { route: 'inititate' }, 'did you mean initiate?'],
  ])('of %s with %j is refused in words, open and as it was filled in', async (effect, wrong, problem) => {
    const sim = await startSim();
    const given = { route: 'initiate', identifier: 'order-*', ...wrong };
    const answer = await postForm(sim, `${PAGE}/${effect}`, given);
    expect([answer.status, rules(sim)]).toEqual([422, []]);
    expect(answer.html).toContain(problem);
    expect(answer.html).toContain(`<details id="set-${effect}" name="effect" open="">`);
    expect(answer.html.match(/<details [^>]*open/g)).toHaveLength(1);
    expect(answer.html.match(/value="order-\*"/g)).toHaveLength(1);
  });

  it('tells once that a rule is spent', async () => {
    const sim = await startSim();
    await postForm(sim, `${PAGE}/drop`, { route: 'initiate', times: '1' });
    await fetch(`${sim.url}/sandbox/payment/initiate`, { method: 'POST' }).catch(() => {});
    const html = await pageOf(sim, PAGE);
    expect(html.match(/spent/g)).toHaveLength(1);
    expect(html).toContain('once (spent)');
  });
});
