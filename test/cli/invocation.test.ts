import { describe, expect, it } from 'vitest';
import { run } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { freePort } from '../helpers/port.ts';

describe('every command', () => {
  it.each([
    [['strat'], 'start'],
    [['paymants', 'list'], 'payments'],
    [['start', '--prot', '1'], '--port'],
    [['start', '--publik-url', 'x'], '--public-url'],
    [['pay', '--aprove'], '--approve'],
    [['payments', 'create', '--amout', '1'], '--amount'],
    [['payments', 'lst'], 'payments list'],
    [['ipn', 'resnd', 'ipn_1'], 'ipn resend'],
    [['keys', 'genrate'], 'keys generate'],
    [['keys', 'quite-another-thing'], 'generate, env'],
    [['faults', 'set', 'initiate', '--statsu', '503'], '--status'],
    [['init', '--forc'], '--force'],
    // Synonyms.
    [['ipn', 'fire', '--forged', 'amount'], ': did you mean --tamper?'],
    [['webhooks', 'list'], ': did you mean ipn?'],
    [['ipn', 'forge'], 'ipn fire'],
    [['ipn', 'send'], 'ipn fire'],
    [['pay', '--success'], ': did you mean --approve?'],
  ])('%j exits 2, and the error suggests %s', async (args, suggestion) => {
    const { code, stdout, stderr } = await run(args, { cwd: await temporaryFolder() });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain(suggestion);
    expect(stderr).not.toMatch(/^\s+at /m);
    const asJson = await run([...args, '--json'], { cwd: await temporaryFolder() });
    // A program that reads the first line of start must get a ready event or nothing.
    if (args[0] === 'start') expect(asJson.stdout).toBe('');
    else expect(JSON.parse(asJson.stdout)).toMatchObject({ code: 'usage', message: expect.any(String) });
  });

  it('lists the exit codes in the help', async () => {
    const { code, stdout } = await run(['--help'], { cwd: '.' });
    expect(code).toBe(0);
    for (const number of [0, 1, 2, 3, 4, 5, 6])
      expect(stdout).toMatch(new RegExp(`^ +${number} {2}\\w`, 'm'));
  });

  it.each(['status', 'payments list', 'keys show', 'logs'])(
    'without an emulator exits 3, and says how to start one: %s',
    async (line) => {
      const args = [...line.split(' '), '--url', 'http://127.0.0.1:9'];
      const { code, stderr } = await run(args, { cwd: await temporaryFolder() });
      expect([code, stderr]).toEqual([3, expect.stringMatching(/node \S+gateway-sim\.js start/)]);
    },
  );
});

const SECRET = ['--secret', 'sec_sim_9876543210'];
const TO = ['ipn', 'fire', '--to', 'http://127.0.0.1:9', ...SECRET];
const FORWARD = ['ipn', 'listen', '--port', '0', ...SECRET, '--forward-to'];
const TARGET = 'conform --target';

/** Wrong command lines without an emulator, with the exit code and a part of the error. */
const WRONG: [line: string | readonly string[], code: number, message: string][] = [
  ['start --in-memory --sandbox-email x', 2, '--sandbox-email must be an e-mail address (got "x")'],
  ['start --in-memory --public-key k --secret-key k', 2, '--public-key and --secret-key must differ'],
  [
    'start --in-memory --db postgres://u@198.51.100.7,a.localhost/x',
    2,
    '--db names a forbidden host: 198.51.100.7 is neither a loopback nor a private address',
  ],
  ['pay --approve --delivery x', 2, "argument 'x' is invalid. Allowed choices are ipn-then-redirect,"],
  ['payments list --status pendin', 2, "argument 'pendin' is invalid. Allowed choices are pending,"],
  ['clock advance', 2, "missing required argument 'duration'"],
  [[...TO, '--parallel', '1'], 2, 'from 2 to 100'],
  [[...TO, '--parallel', '3', '--times', '2'], 2, 'omit --times'],
  [['ipn', 'fire', ...SECRET], 2, 'requires --to <url>, or --payment <ref>'],
  [[...TO, '--payment', 'order-1'], 2, '--payment requires the emulator'],
  [[...TO, '--delay', 'soon'], 2, '--delay must be a duration'],
  [[...TO, '--set', 'nothing'], 2, 'name=value'],
  [['ipn', 'fire', ...SECRET, '--to', 'http://0.0.0.0:9'], 2, '--allow-ipn-host 0.0.0.0 allows it'],
  [['ipn', 'verify', '@nope.txt', ...SECRET], 2, 'nope.txt cannot be read'],
  [['ipn', 'verify', ...SECRET], 2, 'the body to verify is empty'],
  [['ipn', 'verify', 'a', '--body', 'b', ...SECRET], 2, 'accepts the body as its argument or with --body'],
  [['ipn', 'verify', 'a', '--secret', ''], 2, '--secret must not be empty'],
  ['ipn verify a --data-dir nowhere', 3, '--secret'],
  [['ipn', 'verify', '{"status":', ...SECRET], 1, 'not valid'],
  [[...FORWARD, 'http://192.0.2.1/ipn'], 2, '--allow-ipn-host 192.0.2.1'],
  [[...FORWARD, 'http://169.254.169.254/latest'], 2, '169.254.169.254'],
  [[...FORWARD, 'http://0.0.0.0:3000/ipn'], 2, '0.0.0.0'],
  ['openapi --url nowhere', 2, '--url'],
  ['openapi --out no/folder/api.json', 5, 'no/folder/api.json'],
  ['audit', 2, 'audit requires the address of the IPN handler'],
  ['audit /ipn', 2, 'the URL of the IPN handler must be an absolute'],
  ['audit http://127.0.0.1:9/ipn --fail-on pass', 2, '--fail-on accepts at-risk and unproven'],
  ['audit http://127.0.0.1:9/ipn --preset magento', 2, 'woocommerce'],
  ['audit http://127.0.0.1:9/ipn --url http://127.0.0.1:9', 3, ''],
  ['reconcile --probe-url http://127.0.0.1:9/{identifier}', 3, ''],
  [`${TARGET} http://127.0.0.1:9`, 3, 'connection refused'],
  [`${TARGET} https://pay.example.com`, 2, 'requires the keys of one of its merchants'],
  [`${TARGET} pay.example.com`, 2, 'the target must be an absolute http or https address'],
  [`${TARGET} http://127.0.0.1:9/?x=1`, 2, 'the target must be a base address without a user name'],
  [`${TARGET} http://user:word@127.0.0.1:9`, 2, 'the target must be a base address without a user name'],
  [`${TARGET} http://127.0.0.1:8 http://127.0.0.1:9`, 2, 'as its argument or with --target'],
  [`${TARGET} https://127.0.0.1:9 --tls-ca none.pem`, 2, '(--tls-ca) cannot be read'],
  ['conform --ipn-url https://tunnel.example/ipn', 2, '--ipn-url requires --ipn-port'],
  ['conform --ipn-port 99999', 2, '--ipn-port must be a whole number'],
  ['conform --ipn-url nowhere', 2, '--ipn-url must be an absolute http or https address'],
  ['conform --profile other', 2, '--profile must be one of document, observed, server'],
  ['conform --profile ./ours.json', 2, '--profile must be one of document, observed, server'],
];

it.each(WRONG)('%j exits %i, and says why', async (line, code, message) => {
  const args = typeof line === 'string' ? line.split(' ') : line;
  const env = { GATEWAY_SIM_PORT: String(await freePort()) };
  const ended = await run(args, { cwd: await temporaryFolder(), env });
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(message)]);
  if (code !== 1) expect(ended.stdout).toBe('');
  expect(ended.stderr).not.toMatch(/^\s+at /m);
});
