import { expect, test } from 'vitest';
import { startNaiveShop } from '../helpers/busy.ts';
import { run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { paid, startSim } from '../helpers/sim.ts';
import { fence } from './pages.ts';

const PLACE = 'skill.md: An order is not paid';

test('the steps of the skill file find the cause of a wrong signature and prove the fix', async () => {
  const sim = await startSim();
  let isFixed = false;
  const shop = await startNaiveShop(
    () => sim.secretKey,
    () => isFixed,
  );
  await paid(sim, { identifier: 'order-1042', ipn_url: `${shop.url}/ipn` });

  const cwd = await temporaryFolder();
  const values: Record<string, string> = { '<identifier>': 'order-1042' };
  const step = async (number: number) => {
    const [, command = ''] = /^npx gateway-sim (.+)\n$/.exec(fence(PLACE, 'sh', number)) ?? [];
    const args = command.split(' ').map((word) => values[word] ?? word);
    const { code, stdout } = await run(args, { cwd, env: { GATEWAY_SIM_URL: sim.url } });
    return { code, json: JSON.parse(stdout) };
  };

  expect((await step(0)).json).toMatchObject({ url: sim.url });
  const { json: payment } = await step(1);
  expect(payment.verdict).toMatchObject({ tone: 'bad', cause: expect.stringContaining('You signed 49.9.') });
  values['<ipn>'] = payment.timeline.findLast(
    ({ deliveryId }: { deliveryId: string | null }) => deliveryId,
  ).deliveryId;
  const { attempts } = (await step(2)).json;
  [values['<computed>'] = ''] = /[0-9A-F]{64}/.exec(attempts[0].responseBody) ?? [];
  const checked = await step(3);
  expect([checked.code, checked.json]).toMatchObject([
    1,
    { mistake: expect.any(String), fix: expect.any(String) },
  ]);
  isFixed = true;
  expect((await step(4)).code).toBe(0);
  expect((await step(5)).json.verdict.tone).toBe('good');
});
