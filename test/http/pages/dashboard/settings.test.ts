import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { FAULT_PRESETS } from '../../../../src/http/pages/dashboard/settings.tsx';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { startReceiver } from '../../../helpers/receiver.ts';
import { ORDER, paid, type Sim, startSim } from '../../../helpers/sim.ts';

const PAGE = '/_sim/ui/settings';

it('the settings reset the state only after the user types the word', async () => {
  const sim = await startSim();
  await sim.initiate(ORDER);
  const refused = await postForm(sim, `${PAGE}/reset`, { confirm: 'yes' });
  expect(refused).toMatchObject({
    status: 422,
    html: expect.stringContaining('confirm must be the word reset'),
  });
  expect(sim.server.parts.store.state.payments.size).toBe(1);
  expect((await postForm(sim, `${PAGE}/reset`, { confirm: 'reset' })).status).toBe(303);
  expect(sim.server.parts.store.state.payments.size).toBe(0);
});

it('the settings show the balance of each wallet, and no form that changes it', async () => {
  const [, wallets = ''] =
    /<section id="wallet-list"(.*?)<\/section>/s.exec(await pageOf(await startSim(), PAGE)) ?? [];
  expect(wallets).toMatch(/poor@example\.com.*\$1\.00/s);
  expect(wallets).not.toContain('<form');
});

const rules = ({ server }: Sim) => server.parts.faults.list.map(({ rule }) => rule);

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

it('the settings say only once that a rule is spent', async () => {
  const sim = await startSim();
  sim.server.parts.faults.set({ route: 'initiate', drop: true, times: 1 });
  await fetch(`${sim.url}/sandbox/payment/initiate`, { method: 'POST' }).catch(() => {});
  const html = await pageOf(sim, PAGE);
  expect(html.match(/used up/g)).toHaveLength(1);
  expect(html).toContain('once (used up)');
});

it('the page of an IPN names the rule that changed it', async () => {
  const receiver = await startReceiver([{ status: 400 }]);
  const sim = await startSim({ ipnSchedule: ['1h'] });
  const { clock, faults } = sim.server.parts;
  await clock.move({ freeze: 'now' });
  faults.set({ route: 'ipn', corruptSignature: true });
  const { delivery } = await paid(sim, { ipn_url: `${receiver.url}/ipn` });
  const html = await pageOf(sim, `/_sim/ui/ipns/${delivery?.id}`);
  const fault = 'Your fault rule: signature corrupted';
  expect(html).toContain(`<dd>${fault}. Your handler returned 400.</dd>`);
  expect(html).not.toContain('matches neither');
  expect(html).toMatch(/data-verdict="waiting".*>Resend<\/button>.*>Show the rules<\/a>/s);
  expect(html).toContain('Your shop: rejected a corrupted IPN (400)');
  expect(html).toContain('>A retry is scheduled.</span>');
});

it.each(Object.values(FAULT_PRESETS))('the preset $label is documented', async ({ label, does }) => {
  const text = await readFile(new URL('../../../../src/docs/faults.md', import.meta.url), 'utf8');
  expect(text).toMatch(new RegExp(`^\\| ${label} \\| .* \\| ${does.replace('.', '\\.')} \\|$`, 'm'));
});
