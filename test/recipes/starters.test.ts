import { spawnSync } from 'node:child_process';
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fence } from '../docs/pages.ts';
import { inherited, launchProgram } from '../helpers/child.ts';
import { missing } from '../merchants/running.ts';
import { createProject, type Project, phpunit } from './project.ts';

/* The files that `init --php` and `init --python` write, used in a project that has the package installed. */

let project: Project;
beforeAll(async () => {
  project = await createProject();
});
afterAll(() => project.remove());

const has = (...command: [string, ...string[]]) =>
  spawnSync(command[0], command.slice(1), { env: inherited() }).status === 0;

const PYTEST = `
import sys
sys.path.insert(0, 'tests/python')
from gateway_sim import GatewaySim
from test_gateway_sim import test_a_payment_reaches_the_shop
with GatewaySim.start() as sim: test_a_payment_reaches_the_shop(sim)
print('1 passed')`;

/** Calls every method once, prints the results as a line of JSON, and kills itself. */
const ALL_IN_PHP = `<?php
require 'tests/php/GatewaySim.php';
$sim = GatewaySim::start();
$why = function (callable $call) {
    try { $call(); return 'nothing'; } catch (GatewaySimError $error) { return $error->getMessage(); }
};
$order = $sim->initiate(['amount' => '12.50']);
$nothing = $why(fn () => $sim->waitForIpn($order['identifier'], 0));
$sim->approve($order['id']);
$ipn = $sim->waitForIpn($order['identifier']);
$canceled = $sim->cancel($sim->initiate()['id'])['payment']['status'];
$failed = $sim->fail($sim->initiate()['id'])['payment']['status'];
$results = [
    'url' => $sim->url, 'served' => $sim->serve('tests/php/payments.php'), 'publicKey' => $sim->publicKey,
    'checkout' => $order['url'], 'amount' => $ipn['data']['amount'], 'status' => $ipn['status'],
    'isSigned' => $ipn['signature'] === $sim->signIpn('12.50', $order['identifier']),
    'settled' => [$canceled, $failed], 'ahead' => $sim->advance('2h')['aheadMs'] > 7_000_000,
    'why' => [
        $nothing,
        $why(fn () => $sim->initiate(['currency' => 'XXX'])),
        $why(fn () => $sim->initiate(['ipnUrl' => 'http://localhost/'])),
        $why(fn () => $sim->approve($order['id'])),
        $why(fn () => $sim->advance('soon')),
    ],
];
$sim->reset();
$results['why'][] = $why(fn () => $sim->waitForIpn('order-1', 0));
echo json_encode($results), PHP_EOL;
posix_kill(getmypid(), SIGKILL);`;
const ALL_IN_PYTHON = `
import json, os, signal, sys
sys.path.insert(0, 'tests/python')
from gateway_sim import GatewaySim, GatewaySimError
from payments import create_app
sim = GatewaySim.start()
def why(call):
    try: call()
    except GatewaySimError as error: return str(error)
order = sim.initiate({'amount': '12.50'})
nothing = why(lambda: sim.wait_for_ipn(order['identifier'], 0))
sim.approve(order['id'])
ipn = sim.wait_for_ipn(order['identifier'])
canceled = sim.cancel(sim.initiate()['id'])['payment']['status']
failed = sim.fail(sim.initiate()['id'])['payment']['status']
results = {
    'url': sim.url, 'served': sim.serve(create_app(sim.secret_key)), 'publicKey': sim.public_key,
    'checkout': order['url'], 'amount': ipn['data[amount]'], 'status': ipn['status'],
    'isSigned': ipn['signature'] == sim.sign_ipn('12.50', order['identifier']),
    'settled': [canceled, failed], 'ahead': sim.advance('2h')['aheadMs'] > 7_000_000,
    'why': [
        nothing,
        why(lambda: sim.initiate(currency='XXX')),
        why(lambda: sim.initiate(ipnUrl='http://localhost/')),
        why(lambda: sim.approve(order['id'])),
        why(lambda: sim.advance('soon')),
    ],
}
sim.reset()
results['why'].append(why(lambda: sim.wait_for_ipn('order-1', 0)))
print(json.dumps(results), flush=True)
os.kill(os.getpid(), signal.SIGKILL)`;

interface Results {
  url: string;
  served: string;
}

const STARTERS = [
  {
    language: 'php',
    file: 'GatewaySim.php',
    runner: 'phpunit',
    byRunner: ['phpunit', '--do-not-cache-result', 'tests/php/GatewaySimTest.php'],
    passed: /OK \(1 test/,
    standIn: phpunit('tests/php/GatewaySimTest.php', 'testAPaymentReachesTheShop'),
    all: ALL_IN_PHP,
    command: (file: string) => ['php', file],
  },
  {
    language: 'python',
    file: 'gateway_sim.py',
    runner: 'pytest',
    byRunner: ['python3', '-m', 'pytest', 'tests/python'],
    passed: /1 passed/,
    standIn: PYTEST,
    all: ALL_IN_PYTHON,
    command: (file: string) => ['python3', file],
  },
] as const;

describe.each(STARTERS)('init --$language', ({ language, file, runner, byRunner, passed, ...starter }) => {
  const why = missing(language);
  const here = why ? ` (${why})` : '';
  const hasRunner =
    language === 'php' ? has('phpunit', '--version') : has('python3', '-m', 'pytest', '--version');
  const by = hasRunner ? '' : ` (with a stand-in: ${runner} is not installed)`;
  const gatewaySim = join('node_modules', '.bin', 'gateway-sim');
  const folder = join('tests', language);

  const prepare = async () => {
    const { code, output } = await project.run([gatewaySim, 'init', `--${language}`, folder]);
    expect([code, output]).toEqual([0, expect.stringContaining(join(folder, file))]);
    await project.write(`stand-in.${language}`, starter.standIn);
    await project.write(`all.${language}`, starter.all);
  };

  test.skipIf(why)(`writes a test in which the shop's own handler accepts an IPN${here}${by}`, async () => {
    await prepare();
    const command = hasRunner ? byRunner : starter.command(`stand-in.${language}`);
    const { code, output } = await project.run(command);
    expect([code, output]).toEqual([0, expect.stringMatching(passed)]);
  });

  test.skipIf(why)(
    `starts an emulator that ends with the test, even if the test is killed${here}`,
    async () => {
      await prepare();
      const { child, ended } = launchProgram(starter.command(`all.${language}`), { cwd: project.folder });
      const { signal, stdout, stderr } = await ended;
      expect([signal, stderr, child.killed]).toEqual(['SIGKILL', '', false]);
      const results = JSON.parse(stdout) as Results;
      expect(results).toEqual({
        url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        served: expect.stringMatching(/:\d+$/),
        publicKey: 'pub_sim_example_not_a_real_key',
        checkout: expect.stringContaining(`${results.url}/sandbox/`),
        amount: '12.50',
        status: 'success',
        isSigned: true,
        settled: ['canceled', 'failed'],
        ahead: true,
        why: [
          expect.stringMatching(/no IPN for \w{20}: .* is pending.*approve\(\)/),
          expect.stringMatching(/currency.*XXX/),
          expect.stringMatching(/unknown field ipnUrl.*ipn_url/),
          expect.stringMatching(/succeeded/),
          expect.stringMatching(/advance must be a duration/),
          expect.stringMatching(/no IPN for order-1: nothing was initiated/),
        ],
      });
      const answers = (url: string) => fetch(url).then(Boolean, () => false);
      for (const url of [results.url, results.served])
        await expect.poll(() => answers(url), { timeout: 5_000 }).toBe(false);
    },
  );

  test.skipIf(why)(`uses the emulator that exec started${here}`, async () => {
    await prepare();
    const command = starter.command(`all.${language}`);
    const { output } = await project.run([
      gatewaySim,
      'exec',
      '--quiet',
      '--port',
      '0',
      '--',
      'sh',
      '-c',
      `echo "$GATEWAY_SIM_URL"; exec "$@"`,
      'sh',
      ...command,
    ]);
    const [url, results = ''] = output.split('\n');
    expect((JSON.parse(results) as Results).url).toBe(url);
  });

  test.skipIf(why)(`says what to do if nothing is installed or configured${here}`, async () => {
    await prepare();
    const away = join(project.folder, '..', `away-${language}`, folder);
    await mkdir(away, { recursive: true });
    await cp(join(project.folder, folder), away, { recursive: true });
    const { ended } = launchProgram(starter.command(join(project.folder, `all.${language}`)), {
      cwd: join(away, '..', '..'),
      env: { PATH: '/usr/bin:/bin' },
    });
    const { stdout, stderr } = await ended;
    expect(stdout + stderr).toMatch(/gateway-sim.* did not start.*[Ii]nstall gateway-sim.*GATEWAY_SIM_BIN/s);
  });
});

const noPhp = missing('php');
const hasPhpunit = has('phpunit', '--version');
const how = noPhp ? ` (${noPhp})` : hasPhpunit ? '' : ' (with a stand-in: phpunit is not installed)';

test.skipIf(noPhp)(`the test in stacks/phpunit.md passes${how}`, async () => {
  const place = 'stacks/phpunit.md: PHPUnit';
  const [, init = '', run = ''] = fence(place, 'sh').trim().split('\n');
  const { code, output } = await project.run(['sh', '-c', init.replace('npx ', 'node_modules/.bin/')]);
  expect([code, output]).toEqual([0, expect.stringContaining(`Run it: ${run}.`)]);
  await project.write('tests/PaymentTest.php', fence(place, 'php'));
  await project.write('stand-in.php', phpunit('tests/PaymentTest.php', 'testOnlyAGenuineIpnIsTaken'));
  const command = hasPhpunit ? ['phpunit', 'tests/PaymentTest.php'] : ['php', 'stand-in.php'];
  const ended = await project.run(command);
  expect([ended.code, ended.output]).toEqual([0, expect.stringMatching(/OK \(1 test/)]);
});
