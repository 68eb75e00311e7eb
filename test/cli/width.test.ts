import { expect, it } from 'vitest';
import { BINARY } from '../helpers/binary.ts';
import { runProgram } from '../helpers/child.ts';
import { startHere } from '../helpers/cli.ts';
import { ORDER } from '../helpers/sim.ts';

it('without a terminal, lines have at most 80 columns, and no word is broken', async () => {
  const { cwd, initiate } = await startHere();
  await initiate({ ...ORDER, ipn_url: 'http://127.0.0.1:9/ipn' });
  const commands = [['pay', '--approve'], ['payments'], ['ipn'], ['status']];
  for (const command of commands) {
    const env = { COLUMNS: '' };
    const { code, stdout } = await runProgram([process.execPath, BINARY, ...command], { cwd, env });
    const long = stdout.split('\n').filter((line) => line.length > 80 && line.trim().includes(' '));
    expect([command, code, long]).toEqual([command, 0, []]);
  }
});

it('COLUMNS says otherwise', async () => {
  const { cwd, initiate } = await startHere();
  await initiate({ ...ORDER, ipn_url: 'http://127.0.0.1:9/ipn' });
  const run = { cwd, env: { COLUMNS: '500' } };
  const { stdout } = await runProgram([process.execPath, BINARY, 'pay', '--approve'], run);
  expect(stdout).toMatch(/^Verdict .*this order stays unpaid\.$/m);
});
