import { PassThrough } from 'node:stream';
import { afterEach, expect, it, vi } from 'vitest';
import { Output, pairs } from '../../src/cli/output.ts';
import { command, GatewayError, hint } from '../../src/contract/error.ts';
import { launch, run, startHere } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER } from '../helpers/sim.ts';

afterEach(() => vi.unstubAllEnvs());

/** Lines with more than 80 columns, except those with a command, a long word or the bytes of a request, and errors. */
const tooLong = (text: string) =>
  text
    .split('\n')
    .filter(
      (line) =>
        line.length > 80 &&
        !/^(?:gateway-sim: |\s*[<>] |(?:[A-Z][\w ]* {2})?\s*\S+$)| node \S+ \S/.test(line),
    );

it('without a terminal, lines have at most 80 columns, and no word is broken', async () => {
  vi.stubEnv('COLUMNS', '');
  const receiver = await startReceiver(() => ({ status: 400, body: 'bad signature' }));
  const { cwd, initiate, url } = await startHere();
  await initiate({ ...ORDER, ipn_url: receiver.url });
  const commands = [
    ['pay', '--approve'],
    ['payments'],
    ['payments', 'show', 'order-1'],
    ['ipn'],
    ['ipn', 'diagnose'],
    ['ipn', 'show'],
    ['status'],
    ['faults'],
    ['docs'],
    ['docs', 'signature'],
    ['audit', receiver.url, '--only', 'A'],
    ['start', '--port', '0'],
    ['logs'],
    [],
  ];
  const env = { GATEWAY_SIM_URL: url };
  for (const command of commands) {
    const { stdout, stderr } = await run(command, { cwd, env });
    const lines = tooLong(stdout + stderr);
    expect([command, lines]).toEqual([command, []]);
    expect([command, stdout + stderr]).toEqual([command, expect.stringMatching(/\S/)]);
  }
});

it('the banner and the log of start fit 80 columns', async () => {
  vi.stubEnv('COLUMNS', '');
  const receiver = await startReceiver(() => ({ status: 400, body: 'bad signature' }));
  const cwd = await temporaryFolder();
  const command = ['start', '--port', '0', '--auto', 'approve', '--auto-delay', '0s'];
  const { until, stdout } = launch(command, { cwd });
  await until((text) => text.includes('Press Ctrl-C'));
  await run(['payments', 'create', '--ipn-url', receiver.url], { cwd });
  await until((text) => text.includes('Find the cause'));
  expect(tooLong(stdout())).toEqual([]);
});

it('COLUMNS says otherwise', async () => {
  const { cwd, initiate } = await startHere();
  await initiate({ ...ORDER, ipn_url: 'http://127.0.0.1:9/ipn' });
  vi.stubEnv('COLUMNS', '500');
  const { stdout } = await run(['pay', '--approve'], { cwd });
  expect(stdout).toMatch(/^Verdict .*This order stays unpaid\. .* again\.$/m);
});

it('a long address stays beside its label, and a command on one line', () => {
  vi.stubEnv('COLUMNS', '80');
  const facts = {
    'IPN to': `http://localhost:3000/${'path/'.repeat(15)}`,
    Live: 'e-mail wallet@example.com   code from: node ../clones/gateway-sim/bin/gateway-sim.js inbox',
    Fix: `${'word '.repeat(30)}end`,
  };
  const lines = pairs(facts).split('\n');
  expect(lines.slice(0, 3)).toEqual([
    `IPN to  ${facts['IPN to']}`,
    'Live    e-mail wallet@example.com',
    '        code from: node ../clones/gateway-sim/bin/gateway-sim.js inbox',
  ]);
  expect(lines.slice(3).every((line) => line.length <= 80)).toBe(true);
});

it('on a terminal, a command that does not fit is on a line of its own', () => {
  vi.stubEnv('COLUMNS', '80');
  const stderr = Object.assign(new PassThrough(), { isTTY: true });
  const io = { stdout: new PassThrough(), stderr, env: {}, cwd: '/' };
  const output = new Output(io as never, { invocation: `node /${'folder/'.repeat(4)}bin/gateway-sim.js` });
  output.notice(hint`Pay at this URL, or with: ${command('pay', 'pay_1', '--approve')}`);
  output.fail(new GatewayError('usage', 'word '.repeat(30).trim()));
  const lines = String(stderr.read()).trimEnd().split('\n');
  expect(lines.slice(0, 2)).toEqual([
    'Pay at this URL, or with:',
    `    node /${'folder/'.repeat(4)}bin/gateway-sim.js pay pay_1 --approve`,
  ]);
  expect(lines.filter((line) => line.length > 80)).toEqual([]);
});
