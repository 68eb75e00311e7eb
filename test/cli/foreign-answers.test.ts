import { describe, expect, it } from 'vitest';
import { SNAPSHOT_VERSION } from '../../src/store/snapshot.ts';
import { run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { type Answer, startReceiver } from '../helpers/receiver.ts';
import { sample } from '../helpers/scope.ts';

const NOTHING = 'http://127.0.0.1:9/';
const COMMANDS = [
  ...['status', 'stop', 'open checkout', 'open checkout x', 'logs', 'inbox', 'keys', 'keys env'],
  ...['keys generate', 'keys generate --merchant new'],
  ...['pay --approve', 'pay x --approve', 'pay --cancel --all'],
  ...['payments', 'payments show x', 'payments show x --curl', 'payments create'],
  ...['ipn', 'ipn show x', 'ipn resend x', 'ipn verify status=success&identifier=a&signature=x'],
  ...['ipn fire --payment x', `ipn fire --to ${NOTHING} --identifier a --parallel 2`],
  ...['cards', 'cards show x', 'cards create', 'cards charge x --amount 5 --details a'],
  ...['cards fund x --amount 5', 'cards activate x', 'wallets', 'wallets fund x --amount 5'],
  ...['state reset', 'state export -', 'state import state.json'],
  ...['faults', 'faults set initiate --status 503', 'faults clear'],
  ...[
    'clock',
    'clock advance 2h',
    'clock freeze',
    'clock resume',
    'clock reset',
    `audit ${NOTHING}`,
    'conform',
  ],
  `reconcile --probe-url ${NOTHING}{identifier}`,
];

const error = { message: 'no', code: 'usage' };
const ANSWERS: Record<string, Exclude<Answer, string>> = {
  'a page': { body: '<!doctype html><p>hello' },
  null: { body: 'null' },
  'a text': { body: '"x"' },
  'a redirect': { status: 302, headers: { Location: 'javascript:alert(1)' } },
  'a broken server': { status: 500, body: '<h1>oh no' },
  'an unknown error': { status: 404, body: '{"message":"no","code":"constructor","errors":[]}' },
  'an error with other parts': {
    status: 422,
    body: JSON.stringify({ ...error, errors: [1], hint: [7, null, {}] }),
  },
};
const GRID = COMMANDS.flatMap((command) => Object.keys(ANSWERS).map((answer) => ({ command, answer })));
const TYPICAL = ['null', 'an error with other parts'];

describe('a server that claims to be gateway-sim but is not', () => {
  const grid = sample(GRID, ({ command, answer }) => command === 'payments' || TYPICAL.includes(answer));

  it.each(grid)('is reported: $answer for $command', async ({ command, answer }) => {
    const cwd = await temporaryFolder({ 'state.json': JSON.stringify({ version: SNAPSHOT_VERSION }) });
    const { headers, ...rest } = ANSWERS[answer] ?? {};
    const other = await startReceiver([{ ...rest, headers: { 'X-Gateway-Sim': '1', ...headers } }]);
    const env = { GATEWAY_SIM_URL: other.url };
    const { code, stdout, stderr } = await run(command.split(' '), { cwd, env });
    expect([command, stderr]).not.toEqual([command, expect.stringMatching(/bug of gateway-sim|^\s+at /m)]);
    expect(stdout).not.toMatch(/undefined|\[object|NaN/);
    const isError = answer === 'an error with other parts';
    const message = isError ? 'gateway-sim: no\n' : 'does not respond like gateway-sim';
    const isRead = command === 'logs' && code === 0;
    if (!isRead) expect([code, stderr]).toEqual([isError ? 2 : 3, expect.stringContaining(message)]);
  });
});

it.each(['keys', 'keys generate'])('%s rejects an empty list of merchants', async (command) => {
  const body = JSON.stringify({ data: [] });
  const other = await startReceiver([{ headers: { 'X-Gateway-Sim': '1' }, body }]);
  const env = { GATEWAY_SIM_URL: other.url };
  const { code, stderr } = await run(command.split(' '), { cwd: await temporaryFolder(), env });
  expect([code, stderr]).toEqual([3, expect.stringContaining('does not respond like gateway-sim')]);
});

describe('a fix in a response', () => {
  const printed = async (hint: unknown) => {
    const body = JSON.stringify({ ...error, hint });
    const other = await startReceiver([{ status: 422, headers: { 'X-Gateway-Sim': '1' }, body }]);
    return (await run(['status', '--url', other.url], { cwd: await temporaryFolder() })).stderr;
  };

  it('can be pasted: each argument is one shell word, and the text is on one line', async () => {
    const stderr = await printed([
      'Try\n',
      { command: 'ipn resend', args: ['$(touch x)', '--to', '<url>'] },
      { option: 'allowHost', value: 'a;b' },
    ]);
    expect(stderr).toMatch(/^ {2}Try .* ipn resend '\$\(touch x\)' --to <url>--allow-host 'a;b'$/m);
  });

  it.each([
    [[{ command: 'exec', args: ['--', 'touch', 'x'] }]],
    [[{ command: '; touch x' }]],
    [[{ option: 'port; touch x' }]],
  ])('is not printed if it could run something else: %j', async (hint) => {
    expect(await printed(hint)).not.toContain('touch');
  });
});
