import { describe, expect, it } from 'vitest';
import { run, start, startHere } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';

describe('gateway-sim faults', () => {
  it('are in the status and the log while they can act, and clearing says how many are left', async () => {
    const cwd = await temporaryFolder();
    const server = await start([], { cwd });
    await run(['faults', 'set', 'initiate', '--status', '503', '--times', '1'], { cwd });
    await fetch(`${server.ready.url}/payment/initiate`, { method: 'POST' });
    const effects = ['--latency', '100ms..2s', '--corrupt-signature', '--probability', '0.5'];
    await run(['faults', 'set', 'ipn', ...effects], { cwd });
    const words = 'ipn: latency 100ms..2s, signature corrupted, probability 0.5';
    expect((await run(['status'], { cwd })).stdout).toContain(`FAULT ON  ${words}`);
    await server.until((stdout) => stdout.includes(`"text":"FAULT ON  ${words}"`));
    expect((await run(['faults', 'clear', 'ipn'], { cwd })).stdout).toBe('1 cleared, 1 left\n');
    // The other rule is spent.
    await server.until((stdout) => stdout.includes('"text":"all faults are off"'));
    expect((await run(['faults', 'clear'], { cwd })).stdout).toBe('1 cleared\n');
    expect((await run(['faults'], { cwd })).stderr).toContain('No faults');
  });

  it('can be set in the configuration, and are shown at the start', async () => {
    const config = { faults: [{ route: 'cards', drop: true }] };
    const cwd = await temporaryFolder({ 'gateway-sim.config.json': JSON.stringify(config) });
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
