import { expect, it } from 'vitest';
import { run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

it('cards create and charge use the given title, merchant and details', async () => {
  const cwd = await temporaryFolder();
  await startIn(cwd);
  await run(['keys', 'generate', '--merchant', 'Other'], { cwd });
  const cards = async (...args: string[]) =>
    (await runJson<Record<string, string>>(['cards', ...args], { cwd })).body;
  const { id = '' } = await cards('create', '--merchant', 'Other', '--title', 'Travel');
  await cards('charge', id, '--amount', '12.50', '--details', 'Coffee');
  expect(await cards('show', id)).toMatchObject({
    title: 'Travel',
    transactions: [{ type: '-', amount: '12.50', details: 'Coffee' }],
  });
  expect(await cards('list', '--merchant', 'Other')).toMatchObject({ data: [{ id }] });
  expect(await cards('list', '--merchant', 'Demo Shop')).toEqual({ data: [], nextCursor: null });
});
