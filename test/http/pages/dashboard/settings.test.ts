import { expect, it } from 'vitest';
import { pageOf, postForm } from '../../../helpers/forms.ts';
import { ORDER, startSim } from '../../../helpers/sim.ts';

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
