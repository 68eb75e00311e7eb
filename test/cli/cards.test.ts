import { expect, it } from 'vitest';
import { run, runJson, startHere } from '../helpers/cli.ts';

it('cards create, charge and fund use the given values, and block, activate and cancel change the status', async () => {
  const { cwd } = await startHere();
  await run(['keys', 'generate', '--merchant', 'Other'], { cwd });
  const cards = async (...args: string[]) =>
    (await runJson<Record<string, string>>(['cards', ...args], { cwd })).body;
  const { id = '' } = await cards('create', '--merchant', 'Other', '--title', 'Travel');
  await cards('charge', id, '--amount', '12.50', '--details', 'Coffee');
  await cards('fund', id, '--amount', '2');
  expect(await cards('show', id)).toMatchObject({
    title: 'Travel',
    transactions: [
      { type: '+', amount: '2.00' },
      { type: '-', amount: '12.50', details: 'Coffee' },
    ],
  });
  expect(await cards('list', '--merchant', 'Other')).toMatchObject({ data: [{ id }] });
  expect(await cards('list', '--merchant', 'Demo Shop')).toEqual({ data: [], nextCursor: null });
  expect(await cards('block', id)).toMatchObject({ status: 'inactive' });
  expect(await cards('activate', id)).toMatchObject({ status: 'active' });
  expect(await cards('cancel', id)).toMatchObject({ status: 'canceled' });
});
