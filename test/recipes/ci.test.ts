import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { environmentName } from '../../src/options/resolve.ts';
import { START_OPTIONS } from '../../src/options/table.ts';
import { createProject, type Ended, type Project, recipe } from './project.ts';

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

/** The `run:` lines of a workflow, as one runs after the other. */
function stepsOf(workflow: string): string[] {
  return [...workflow.matchAll(/^ +- run: (.+)$/gm)].map(([, command = '']) => command);
}

/** Runs steps as a runner does: each in a shell of its own, with what the steps before wrote to GITHUB_ENV. */
async function runSteps(steps: readonly string[]): Promise<Ended[]> {
  const file = join(project.folder, 'github.env');
  await project.write('github.env', '');
  const ended: Ended[] = [];
  for (const step of steps) {
    const written = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
    const exported = Object.fromEntries(written.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    // Nothing is fetched, and the port is not the one that a developer's emulator may have.
    const offline = { npm_config_offline: 'true', npm_config_cache: join(project.folder, '.cache') };
    const env = { GITHUB_ENV: file, GATEWAY_SIM_PORT: '0', ...offline, ...exported };
    ended.push(await project.run(['sh', '-ec', step], env));
  }
  return ended;
}

test('the one line of GitHub Actions', async () => {
  const steps = stepsOf(recipe('.github/workflows/test.yml'));
  expect(steps).toHaveLength(2);
  const ended = await runSteps(steps);
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(ended[1]?.output).toMatch(/pass 1\n/);
});

test('one emulator over several steps of GitHub Actions', async () => {
  const steps = stepsOf(recipe('.github/workflows/steps.yml'));
  expect(steps).toHaveLength(6);
  // Whatever goes wrong on the way, as `if: always()` has it.
  onTestFinished(async () => void (await project.run(['npx', 'gateway-sim', 'stop'])));
  const ended = await runSteps(steps);
  expect(ended.map(({ code }) => code)).toEqual([0, 0, 0, 0, 0, 0]);
  expect(ended[4]?.output).toMatch(/pass 1\n/);
  const [again] = await runSteps(['npx gateway-sim stop']);
  expect(again?.code).toBe(3);
});

test('GitLab CI', async () => {
  const [, script = ''] = recipe('.gitlab-ci.yml').split('  script:\n');
  const steps = script
    .trim()
    .split(/\n? +- /)
    .filter(Boolean)
    .map((step) => step.replace(/^- /, ''));
  expect(steps).toHaveLength(2);
  const ended = await runSteps(steps);
  expect(ended.map(({ code }) => code)).toEqual([0, 0]);
  expect(ended[1]?.output).toMatch(/pass 1\n/);
});

/** The variables that a service of the compose file sets. */
function environmentOf(service: string): Record<string, string> {
  const [, rest = ''] = recipe('compose.yaml').split(`\n  ${service}:\n`);
  const [own = ''] = rest.split(/\n {2}\w/);
  const found = own.matchAll(/^ {6}(\w+): (.+)$/gm);
  return Object.fromEntries([...found].map(([, name = '', value = '']) => [name, value]));
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
  const child = spawn(process.execPath, [binary, ...args, '--port', '0', '--json', '--quiet'], {
    cwd: project.folder,
    env: { PATH: process.env['PATH'] ?? '', ...gateway },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exit = new Promise((resolve) => child.once('exit', resolve));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exit;
  });
  const ready = await new Promise<string>((resolve) =>
    createInterface({ input: child.stdout }).once('line', resolve),
  );
  const { port } = JSON.parse(ready) as { port: number };
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
  child.kill('SIGTERM');
  expect(await exit).toBe(0);
});
