import { expect, it } from 'vitest';
import { ORDER, startSim } from '../helpers/sim.ts';

const textOf = (html: string) =>
  html.replace(/<(?:style|script)[\s\S]*?<\/(?:style|script)>|<[^>]+>/g, ' ').replace(/\s+/g, ' ');

it('the settings show every option with its value and its origin, without secrets', async () => {
  const sim = await startSim({ ipnRetries: 3, profile: 'newer-server' });
  const html = await (await fetch(`${sim.url}/_sim/ui/settings`)).text();
  const text = textOf(html);
  expect(text).toMatch(/Profile newer-server Behaviours \d+ documented, \d+ observed, \d+ chosen/);
  expect(text).toMatch(/--ipn-retries 3 --ipn-retries /);
  expect(text).toMatch(/--delivery ipn-then-redirect default /);
  const given = await startSim({ secretKey: 'sec_sim_given_by_the_user_1' });
  expect(await (await fetch(`${given.url}/_sim/ui/settings`)).text()).not.toContain('given_by_the_user');
});

it('the settings reset and import the state only after the word is typed', async () => {
  const sim = await startSim();
  await sim.initiate(ORDER);
  const state = await (await fetch(`${sim.url}/_sim/snapshot`)).text();
  const { payments } = sim.server.parts.state.current;
  const post = (what: string, fields: Record<string, string>) =>
    fetch(`${sim.url}/_sim/ui/settings/${what}`, {
      method: 'POST',
      redirect: 'manual',
      headers: { origin: sim.url },
      body: new URLSearchParams(fields),
    });
  const refused = await post('reset', { confirm: 'yes' });
  expect([refused.status, await refused.text()]).toEqual([
    422,
    expect.stringContaining('confirm must be the word reset'),
  ]);
  expect(payments.size).toBe(1);
  expect((await post('reset', { confirm: 'reset' })).status).toBe(303);
  expect(sim.server.parts.state.current.payments.size).toBe(0);
  expect((await post('import', { confirm: 'import', state })).status).toBe(303);
  expect(sim.server.parts.state.current.payments.size).toBe(1);
});
