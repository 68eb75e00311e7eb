import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { environmentName } from '../../src/options/resolve.ts';
import { START_OPTIONS } from '../../src/options/table.ts';
import { launchProgram } from '../helpers/child.ts';
import { run } from '../helpers/cli.ts';
import { createProject, type Project, recipe } from './project.ts';

let project: Project;
beforeAll(async () => {
  project = await createProject();
  const manifest = JSON.parse(await readFile(join(project.folder, 'package.json'), 'utf8'));
  await project.write(
    'package.json',
    JSON.stringify({ ...manifest, scripts: { test: 'node --test ci.test.mjs' } }),
  );
  await project.recipes('shop.cjs');
  await project.write(
    'ci.test.mjs',
    `import assert from 'node:assert/strict';
     import { test } from 'node:test';
     import { connectGatewaySim } from 'gateway-sim';
     import { openShop } from './shop.cjs';
     test('an order is paid', async () => {
       const sim = await connectGatewaySim();
       const shop = await openShop({
         initiateUrl: process.env.GATEWAY_SIM_INITIATE_URL,
         publicKey: process.env.GATEWAY_SIM_PUBLIC_KEY,
         secretKey: process.env.GATEWAY_SIM_SECRET_KEY,
       });
       await shop.checkout('order-1');
       await sim.payments.approve('order-1');
       assert.ok(shop.isPaid('order-1'));
       shop.close();
     });`,
  );
});
afterAll(() => project.remove());

interface Workflow {
  jobs: { test: { steps: { run?: string }[] } };
}

/** What a workflow runs, one after the other. */
function stepsOf(file: string): string[] {
  const { jobs } = parse(recipe(file)) as Workflow;
  return jobs.test.steps.flatMap(({ run }) => run ?? []);
}

/** Runs steps as a runner does: each in a shell of its own, with what the steps before wrote to GITHUB_ENV. */
async function runSteps(steps: readonly string[]): Promise<{ codes: (number | null)[]; output: string }> {
  const file = join(project.folder, 'github.env');
  await project.write('github.env', '');
  const codes: (number | null)[] = [];
  let output = '';
  for (const step of steps) {
    const written = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
    const exported = Object.fromEntries(written.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    // Nothing is fetched, and the port is not the one that a developer's emulator may have.
    const offline = { npm_config_offline: 'true', npm_config_cache: join(project.folder, '.cache') };
    const env = { GITHUB_ENV: file, GATEWAY_SIM_PORT: '0', ...offline, ...exported };
    const ended = await project.run(['sh', '-ec', step], env);
    codes.push(ended.code);
    output += ended.output;
  }
  return { codes, output };
}

const IN_ONE_LINE = ['npm ci', 'npx gateway-sim exec -- npm test'];

test('the one line of GitHub Actions, and the same in GitLab CI', async () => {
  expect(stepsOf('.github/workflows/test.yml')).toEqual(IN_ONE_LINE);
  expect((parse(recipe('.gitlab-ci.yml')) as { test: { script: string[] } }).test.script).toEqual(
    IN_ONE_LINE,
  );
  const { codes, output } = await runSteps(IN_ONE_LINE);
  expect([codes, output]).toEqual([[0, 0], expect.stringMatching(/pass 1\n/)]);
});

test('one emulator over several steps of GitHub Actions', async () => {
  const [install, ...steps] = stepsOf('.github/workflows/steps.yml');
  expect([install, steps.length]).toEqual(['npm ci', 5]);
  // Whatever goes wrong on the way, as `if: always()` has it.
  onTestFinished(async () => void (await project.run(['node_modules/.bin/gateway-sim', 'stop'])));
  // What npx adds, the other test shows.
  const { codes, output } = await runSteps(steps.map((step) => step.replace('npx ', 'node_modules/.bin/')));
  expect([codes, output]).toEqual([[0, 0, 0, 0, 0], expect.stringMatching(/pass 1\n/)]);
  expect((await run(['stop'], { cwd: project.folder })).code).toBe(3);
});

/** The variables that a service of the compose file sets. */
function environmentOf(service: string): Record<string, string> {
  type Composed = { services: Record<string, { environment: Record<string, string> }> };
  return (parse(recipe('compose.yaml')) as Composed).services[service]?.environment ?? {};
}

// No engine runs here: what the image starts is started by hand, as its files say it.
test('the command of the Dockerfile, with the variables of the compose file', async () => {
  const dockerfile = recipe('Dockerfile.gateway');
  const instructions = dockerfile
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => line.split(' ')[0]);
  expect(instructions).toEqual(['FROM', 'COPY', 'RUN', 'EXPOSE', 'HEALTHCHECK', 'CMD']);
  expect(dockerfile).toContain(`EXPOSE ${START_OPTIONS.port.default}\n`);
  const [, command = '[]'] = /^CMD (.+)$/m.exec(dockerfile) ?? [];
  const [, path = ''] = /127\.0\.0\.1:4477(\S+)/.exec(dockerfile) ?? [];

  const gateway = environmentOf('gateway');
  const known = Object.keys(START_OPTIONS).map(environmentName);
  expect(Object.keys(gateway).filter((name) => !known.includes(name))).toEqual([]);
  const tests = environmentOf('test');
  expect(tests['GATEWAY_SIM_CONTROL_TOKEN']).toBe(gateway['GATEWAY_SIM_CONTROL_TOKEN']);

  const [program = '', ...args] = JSON.parse(command) as string[];
  const binary = join(project.folder, 'node_modules/.bin', program);
  const emulator = launchProgram([process.execPath, binary, ...args, '--port', '0', '--json', '--quiet'], {
    cwd: project.folder,
    env: gateway,
  });
  await emulator.until((stdout) => stdout.includes('\n'));
  const { port } = JSON.parse(emulator.stdout()) as { port: number };
  const url = `http://127.0.0.1:${port}`;
  expect((await fetch(`${url}${path}`)).status).toBe(200);
  expect((await fetch(`${url}/_sim/payments`)).status).toBe(401);

  await project.write(
    'compose.mjs',
    `import { connectGatewaySim } from 'gateway-sim';
     const sim = await connectGatewaySim();
     console.log((await sim.payments.create()).checkoutUrl);`,
  );
  const env = { ...tests, GATEWAY_SIM_URL: url };
  const { output } = await project.run([process.execPath, 'compose.mjs'], env);
  expect(output).toContain(`${gateway['GATEWAY_SIM_PUBLIC_URL']}/sandbox/`);
  emulator.child.kill('SIGTERM');
  expect((await emulator.ended).code).toBe(0);
});
