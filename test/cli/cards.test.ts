import { describe, expect, it } from 'vitest';
import { run, runJson, startIn } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

interface CardBody {
  id: string;
  status: string;
  availableBalance: string;
  amount: string;
  charges: string;
  transactions: { type: string; amount: string; charge: string }[];
}

async function started() {
  const cwd = await temporaryFolder();
  const sim = await startIn(cwd);
  return { cwd, sim, cards: (...args: string[]) => runJson<CardBody>(['cards', ...args], { cwd }) };
}

describe('gateway-sim cards', () => {
  it('takes a card through all of its states, exact to the cent, and keeps it across a restart', async () => {
    const { cwd, sim, cards } = await started();
    const { id } = (await cards('create', '--amount', '100', '--title', 'Travel')).body;
    expect((await cards('show', id)).body).toMatchObject({
      status: 'active',
      charges: '1.00',
      availableBalance: '99',
    });
    expect((await cards('charge', id, '--amount', '12.50', '--details', 'Coffee')).code).toBe(0);
    expect((await cards('block', id)).body.status).toBe('inactive');
    const refused = await run(['cards', 'charge', id, '--amount', '1'], { cwd });
    expect([refused.code, refused.stderr.includes('inactive')]).toEqual([4, true]);
    expect((await cards('activate', id)).body.status).toBe('active');
    expect((await cards('fund', id, '--amount', '0.01')).code).toBe(0);
    expect((await cards('cancel', id)).body.status).toBe('canceled');
    const final = await run(['cards', 'activate', id], { cwd });
    expect([final.code, final.stderr.includes('canceled')]).toEqual([4, true]);
    await sim.server.stop();
    await startIn(cwd);
    const { body } = await cards('show', id);
    expect(body).toMatchObject({ status: 'canceled', amount: '100', availableBalance: '86.51' });
    expect(body.transactions.map(({ type, amount }) => type + amount)).toEqual(['+0.01', '-12.50']);
  });

  it('reports an unknown card, and prints an empty list without cards', async () => {
    const { cwd, cards } = await started();
    expect((await cards('list')).body).toEqual({ data: [], nextCursor: null });
    const unknown = await run(['cards', 'show', 'nope/nope'], { cwd });
    expect([unknown.code, unknown.stderr.includes('no card')]).toEqual([4, true]);
  });

  it('does not show the cards of another merchant', async () => {
    const { cwd, cards } = await started();
    await run(['keys', 'generate', '--merchant', 'Other'], { cwd });
    const { id } = (await cards('create', '--merchant', 'Other')).body;
    expect((await cards('list', '--merchant', 'Demo Shop')).body).toEqual({ data: [], nextCursor: null });
    expect((await cards('block', id)).body.status).toBe('inactive');
  });
});
