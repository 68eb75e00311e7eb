import { expect, it } from 'vitest';
import { launch, leftByKill, run, runJson, startHere, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { enter } from '../helpers/sim.ts';

/** The values that a few commands create: ids, trx, verification code, card number and merchant. */
async function created(cwd: string): Promise<string[]> {
  const of = async (...args: string[]) => (await runJson<Record<string, string>>(args, { cwd })).body;
  const payment = await of('payments', 'create', '--live', '--identifier', 'order-1');
  await enter(payment['checkoutUrl'] ?? '', 'email', { email: 'wallet@example.com' });
  const inbox = (await runJson<{ data: { code: string }[] }>(['inbox'], { cwd })).body;
  const card = await of('cards', 'create');
  const charged = await runJson<{ transaction: { id: string } }>(
    ['cards', 'charge', card['id'] ?? '', '--amount', '1'],
    { cwd },
  );
  await run(['keys', 'generate', '--merchant', 'Other'], { cwd });
  const other = await of('cards', 'create', '--merchant', 'Other');
  return [
    ...[payment['id'], payment['trx'], inbox.data[0]?.code],
    ...[card['id'], card['number'], card['cvc'], charged.body.transaction.id, other['merchantId']],
  ].map(String);
}

it('the same commands with the same seed create the same values, but new ones after a restart', async () => {
  const seeded = async () => {
    const { cwd } = await startHere({ seed: 'shop' });
    return { cwd, values: await created(cwd) };
  };
  const { cwd, values: first } = await seeded();
  expect((await seeded()).values).toEqual(first);
  expect(first.filter((text) => text.length < 3 || text === 'undefined')).toEqual([]);

  const again = await leftByKill(cwd);
  await startIn(again, { seed: 'shop' });
  const { body } = await runJson<Record<string, string>>(['cards', 'create'], { cwd: again });
  expect(first).not.toContain(body['id']);
  expect(first).not.toContain(body['number']);
});

it('start shows the seed', async () => {
  const cwd = await temporaryFolder();
  const running = launch(['start', '--port', '0', '--in-memory', '--seed', 'shop'], { cwd });
  await running.until((stdout) => stdout.includes('Ctrl-C'));
  expect(running.stdout()).toMatch(/Seed +shop {3}ids, codes and card numbers are repeatable/);
});
