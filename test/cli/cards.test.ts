import { expect, it } from 'vitest';
import { run, runJson, startHere } from '../helpers/cli.ts';

it('cards create and list accept the name of a merchant', async () => {
  const { cwd } = await startHere();
  await run(['keys', 'generate', '--merchant', 'Other'], { cwd });
  const cards = async (...args: string[]) =>
    (await runJson<Record<string, string>>(['cards', ...args], { cwd })).body;
  const { id = '' } = await cards('create', '--merchant', 'Other');
  expect(await cards('list', '--merchant', 'Other')).toMatchObject({ data: [{ id }] });
  expect(await cards('list', '--merchant', 'Demo Shop')).toEqual({ data: [], nextCursor: null });
});
