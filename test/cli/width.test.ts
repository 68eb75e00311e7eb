import { expect, it } from 'vitest';
import { BINARY } from '../helpers/binary.ts';
import { launchProgram, runProgram } from '../helpers/child.ts';
import { startHere } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER } from '../helpers/sim.ts';

/** Lines with more than 80 columns, except commands on their own and the bytes of a request. */
const tooLong = (text: string) =>
  text.split('\n').filter((line) => line.length > 80 && !/^\s*(?:node |[<>] |[^ ]+$)/.test(line));

it('without a terminal, lines have at most 80 columns, and no word is broken', async () => {
  const receiver = await startReceiver(() => ({ status: 400, body: 'bad signature' }));
  const { cwd, initiate, url } = await startHere();
  await initiate({ ...ORDER, ipn_url: receiver.url });
  const commands = [
    ['pay', '--approve'],
    ['payments'],
    ['payments', 'show', 'order-1'],
    ['ipn'],
    ['ipn', 'diagnose'],
    ['status'],
    ['faults'],
    ['docs'],
    ['docs', 'signature'],
    ['audit', receiver.url, '--only', 'A'],
    ['start', '--port', '0'],
    ['logs'],
    [],
  ];
  const env = { COLUMNS: '', GATEWAY_SIM_URL: url };
  for (const command of commands) {
    const { stdout, stderr } = await runProgram([process.execPath, BINARY, ...command], { cwd, env });
    const lines = tooLong(stdout + stderr).filter((line) => !line.startsWith('Checkout  '));
    expect([command, lines]).toEqual([command, []]);
    expect([command, stdout + stderr]).toEqual([command, expect.stringMatching(/\S/)]);
  }
});

it('the banner and the log of start fit 80 columns', async () => {
  const receiver = await startReceiver(() => ({ status: 400, body: 'bad signature' }));
  const cwd = await temporaryFolder();
  const command = [
    process.execPath,
    BINARY,
    'start',
    '--port',
    '0',
    '--auto',
    'approve',
    '--auto-delay',
    '0s',
  ];
  const { until, stdout } = launchProgram(command, { cwd, env: { COLUMNS: '' } });
  await until((text) => text.includes('Press Ctrl-C'));
  await runProgram([process.execPath, BINARY, 'payments', 'create', '--ipn-url', receiver.url], { cwd });
  await until((text) => text.includes('Find the cause'));
  // The path of this program differs between machines.
  expect(tooLong(stdout()).filter((line) => !line.includes(' node '))).toEqual([]);
});

it('COLUMNS says otherwise', async () => {
  const { cwd, initiate } = await startHere();
  await initiate({ ...ORDER, ipn_url: 'http://127.0.0.1:9/ipn' });
  const run = { cwd, env: { COLUMNS: '500' } };
  const { stdout } = await runProgram([process.execPath, BINARY, 'pay', '--approve'], run);
  expect(stdout).toMatch(/^Verdict .*this order stays unpaid\.$/m);
});
