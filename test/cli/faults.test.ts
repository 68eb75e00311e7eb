import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { run, runJson, start, startHere } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

interface Rule {
  route: string;
  used: number;
  spent: boolean;
}

describe('gateway-sim faults', () => {
  it('sets, lists and clears faults, and reports active ones', async () => {
    const cwd = await temporaryFolder();
    const server = await start([], { cwd });
    const initiate = async () =>
      (await fetch(`${server.ready.url}/payment/initiate`, { method: 'POST' })).status;

    const args = ['faults', 'set', 'initiate', '--status', '503', '--times', '2'];
    const set = await runJson<Rule>(args, { cwd });
    expect(set).toMatchObject({ code: 0, body: { route: 'initiate', status: 503, times: 2 } });
    expect([await initiate(), await initiate(), await initiate()]).toEqual([503, 503, 415]);
    const list = await runJson<{ data: Rule[] }>(['faults'], { cwd });
    expect(list.body.data).toMatchObject([{ route: 'initiate', used: 2, spent: true }]);

    const effects = ['--latency', '100ms..2s', '--corrupt-signature', '--probability', '0.5'];
    await run(['faults', 'set', 'ipn', ...effects], { cwd });
    const words = 'ipn: latency 100ms..2s, signature corrupted, probability 0.5';
    expect((await run(['status'], { cwd })).stdout).toContain(`FAULT ON  ${words}`);
    await server.until((stdout) => stdout.includes(`"text":"FAULT ON  ${words}"`));
    expect(await run(['faults', 'clear', 'initiat'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('initiate'),
    });
    expect((await run(['faults', 'clear', 'ipn'], { cwd })).stdout).toBe('1 cleared, 1 left\n');
    // The other rule is spent.
    await server.until((stdout) => stdout.includes('"text":"all faults are off"'));
    expect((await run(['faults', 'clear'], { cwd })).stdout).toBe('1 cleared\n');
    expect(await run(['faults'], { cwd })).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('No faults'),
    });
  });

  it('can be set in the configuration, and are shown at the start', async () => {
    const cwd = await temporaryFolder();
    const faults = [{ route: 'cards', drop: true }];
    await writeFile(join(cwd, 'gateway-sim.config.json'), JSON.stringify({ faults }));
    const server = await start([], { cwd });
    await server.until((_, stderr) => stderr.includes('FAULT ON  cards: connection dropped'));
  });
});

it('the status of a fault rule is not reported as a usage error', async () => {
  const { cwd } = await startHere();
  for (const [route, command] of [
    ['initiate', 'payments'],
    ['cards', 'cards'],
  ] as const) {
    for (const status of ['503', '429']) {
      await run(['faults', 'set', route, '--status', status], { cwd });
      const { code, stderr } = await run([command, 'create'], { cwd });
      expect([code, stderr]).toEqual([1, expect.stringContaining(`returns ${status} here on purpose`)]);
      await run(['faults', 'clear'], { cwd });
    }
  }
});
