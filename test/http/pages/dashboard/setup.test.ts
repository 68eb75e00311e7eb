import { expect, it } from 'vitest';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { ORDER, startSim } from '../../../helpers/sim.ts';

const textOf = (html: string) =>
  html.replace(/<(?:style|script)[\s\S]*?<\/(?:style|script)>|<[^>]+>/g, ' ').replace(/\s+/g, ' ');

it('the settings show every option with its value and source, without secrets', async () => {
  const sim = await startSim({ ipnRetries: 3, profile: 'server' });
  const html = await pageOf(sim, '/_sim/ui/settings');
  const text = textOf(html);
  expect(text).toMatch(/Profile server Behaviours \d+ documented, \d+ observed, \d+ chosen/);
  expect(text).toMatch(/--ipn-retries 3 --ipn-retries /);
  expect(text).toMatch(/--delivery ipn-then-redirect default /);
  const given = await startSim({
    controlToken: 'given-by-the-user',
    forwardIpn: 'http://me:word@127.0.0.1:9/',
  });
  const headers = { authorization: 'Bearer given-by-the-user' };
  const page = await (await fetch(`${given.url}/_sim/ui/settings`, { headers })).text();
  expect(page).toMatch(/--forward-ipn.*127\.0\.0\.1:9/s);
  expect(page).not.toMatch(/given-by-the-user|word@/);
});

it('the settings reset or import the state only after the user types the word', async () => {
  const sim = await startSim();
  await sim.initiate(ORDER);
  const state = await pageOf(sim, '/_sim/snapshot');
  const post = (what: string, fields: Record<string, string>) =>
    postForm(sim, `/_sim/ui/settings/${what}`, fields);
  const refused = await post('reset', { confirm: 'yes' });
  expect(refused).toMatchObject({
    status: 422,
    html: expect.stringContaining('confirm must be the word reset'),
  });
  expect(sim.server.parts.payments.all.size).toBe(1);
  expect((await post('reset', { confirm: 'reset' })).status).toBe(303);
  expect(sim.server.parts.payments.all.size).toBe(0);
  expect((await post('import', { confirm: 'import', state })).status).toBe(303);
  expect(sim.server.parts.payments.all.size).toBe(1);
});
