import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, stat } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { environmentName } from '../../src/options/resolve.ts';
import { START_OPTIONS } from '../../src/options/start-options.ts';
import { fence } from '../docs/pages.ts';
import { launchProgram } from '../helpers/child.ts';
import { run } from '../helpers/cli.ts';
import { freePort } from '../helpers/port.ts';
import { createProject, type Project, recipe } from './project.ts';

let project: Project;
beforeAll(async () => {
  project = await createProject();
  const manifest = JSON.parse(await readFile(join(project.folder, 'package.json'), 'utf8'));
  await project.write(
    'package.json',
    JSON.stringify({ ...manifest, scripts: { test: 'node --test ci.test.mjs' } }),
  );
  await project.shop();
  await project.write(
    'ci.test.mjs',
    `import { test } from 'node:test';
     import { connectGatewaySim } from 'gateway-sim';
     import { server } from './shop.cjs';
     test('an order is paid', async () => {
       const sim = await connectGatewaySim();
       server.listen(0);
       const { identifier } = await sim.payments.visit('http://localhost:' + server.address().port + '/orders', {});
       await sim.payments.approve(identifier);
       await sim.ipns.assertDelivered(identifier);
       server.close();
     });`,
  );
});
afterAll(() => project.remove());

interface Workflow {
  jobs: { test: { steps: { run?: string }[] } };
}

/** The steps of a workflow, in order. */
function stepsOf(file: string): string[] {
  const { jobs } = parse(recipe(file)) as Workflow;
  return jobs.test.steps.flatMap(({ run }) => run ?? []);
}

/** Runs steps as a CI runner does: each in its own shell, with the variables that earlier steps wrote to GITHUB_ENV. */
async function runSteps(steps: readonly string[]): Promise<{ codes: (number | null)[]; output: string }> {
  const file = join(project.folder, 'github.env');
  await project.write('github.env', '');
  const codes: (number | null)[] = [];
  let output = '';
  for (const step of steps) {
    const written = (await readFile(file, 'utf8')).split('\n').filter(Boolean);
    const exported = Object.fromEntries(written.map((line) => line.split(/=(.*)/s).slice(0, 2)));
    // Nothing is downloaded, and a free port cannot conflict with a developer's emulator.
    const offline = { npm_config_offline: 'true', npm_config_cache: join(project.folder, '.cache') };
    const env = { GITHUB_ENV: file, GATEWAY_SIM_PORT: '0', ...offline, ...exported };
    const ended = await project.run(['sh', '-ec', step], env);
    codes.push(ended.code);
    output += ended.output;
  }
  return { codes, output };
}

const IN_ONE_LINE = ['npm ci', 'npx gateway-sim exec -- npm test'];

test('one line runs the tests on GitHub Actions and GitLab CI', async () => {
  expect(stepsOf('.github/workflows/test.yml')).toEqual(IN_ONE_LINE);
  expect((parse(recipe('.gitlab-ci.yml')) as { test: { script: string[] } }).test.script).toEqual(
    IN_ONE_LINE,
  );
  const { codes, output } = await runSteps(IN_ONE_LINE);
  expect([codes, output]).toEqual([[0, 0], expect.stringMatching(/pass 1\n/)]);
});

test('several steps of GitHub Actions can share one emulator', async () => {
  const [install, ...steps] = stepsOf('.github/workflows/steps.yml');
  expect([install, steps.length]).toEqual(['npm ci', 5]);
  // Even after a failure, as `if: always()` requires.
  onTestFinished(async () => void (await project.run(['node_modules/.bin/gateway-sim', 'stop'])));
  // Another test uses npx.
  const { codes, output } = await runSteps(steps.map((step) => step.replace('npx ', 'node_modules/.bin/')));
  expect([codes, output]).toEqual([[0, 0, 0, 0, 0], expect.stringMatching(/pass 1\n/)]);
  expect((await run(['stop'], { cwd: project.folder })).code).toBe(3);
});

test('the action and the template run the command and keep its artifacts (without a CI runner)', async () => {
  const action = parse(recipe('.github/actions/gateway-sim/action.yml'));
  expect(action).toMatchObject({
    inputs: { run: { required: true }, options: { default: '' } },
    runs: { using: 'composite', steps: [{ shell: 'bash' }, { if: 'failure()' }] },
  });
  const [step, upload] = action.runs.steps;
  expect(step.env.FOLDER).toBe(upload.with.path);
  expect(stepsOf('.github/workflows/action.yml')).toEqual(['npm ci']);
  const template = parse(recipe('gateway-sim.gitlab-ci.yml'));
  expect(template).toMatchObject({
    test: { extends: '.gateway-sim', variables: { TEST_COMMAND: 'npm test' } },
  });
  const { script, before_script: before, artifacts } = template['.gateway-sim'];
  expect([before, artifacts.when, artifacts.paths]).toEqual([['npm ci'], 'always', ['gateway-sim/']]);
  const runs: [string, Record<string, string>, string][] = [
    [
      step.run,
      {
        FOLDER: join(project.folder, 'left'),
        OPTIONS: '--auto approve --seed a',
        COMMAND: 'node ci.test.mjs',
      },
      'left',
    ],
    [script.join('\n'), { TEST_COMMAND: 'node ci.test.mjs', EXEC_OPTIONS: '' }, 'gateway-sim'],
  ];
  for (const [shell, env, folder] of runs) {
    const line = shell.replace('npx ', 'node_modules/.bin/');
    const { code, output } = await project.run(['bash', '-ec', line], env);
    expect([code, output]).toEqual([0, expect.stringMatching(/pass 1\n/)]);
    const left = await readdir(join(project.folder, folder));
    expect(left.sort()).toEqual(['.gateway-sim-artifacts', 'events.jsonl', 'ipns.json', 'state.json']);
  }
});

interface Service {
  environment: Record<string, string>;
  [key: string]: unknown;
}

test('the commands, variables and health check of the Dockerfile and the compose file work (without Docker)', async () => {
  const image = join(project.folder, 'image');
  await mkdir(image);
  const [copy = ''] = fence('containers.md: Containers', 'sh').split('\n');
  expect(await project.run(['sh', '-ec', copy])).toEqual({ code: 0, output: '' });
  const copied = (name: string) => readFile(join(project.folder, name), 'utf8');
  const dockerfile = (await copied('Dockerfile')).replace(/^#.*\n/gm, '').replaceAll('\\\n', '');
  const instructions = [...dockerfile.matchAll(/^([A-Z]+) (.+)$/gm)].map(([, name = '', value = '']) => [
    name,
    value,
  ]);
  const inImage = Object.fromEntries(instructions) as Record<string, string>;
  expect(instructions.map(([name]) => name).join(' ')).toBe(
    'FROM COPY RUN USER WORKDIR VOLUME ENV EXPOSE HEALTHCHECK ENTRYPOINT CMD',
  );
  expect(inImage).toMatchObject({ FROM: 'node:22-slim', USER: 'node', VOLUME: '/state', EXPOSE: '4477' });
  const compose = parse(await copied('compose.yaml'), { merge: true });
  const { gateway, shop, test: tests } = compose.services as Record<string, Service>;
  expect(Object.keys(compose)).toEqual(['x-gateway', 'x-shop', 'services', 'volumes']);
  expect(gateway).toMatchObject({ build: '.', volumes: ['state:/state'] });
  expect(compose.volumes).toHaveProperty('state');
  expect(shop).toMatchObject({ depends_on: { gateway: { condition: 'service_healthy' } } });
  expect(tests).toMatchObject({ profiles: ['test'], environment: shop?.environment });
  const known = Object.keys(START_OPTIONS).map(environmentName);
  const variables = gateway?.environment ?? {};
  expect(Object.keys(variables).filter((name) => !known.includes(name))).toEqual([]);

  // As in the build, but with another root folder and the same user.
  await cp(project.tarball, join(image, 'tmp/gateway-sim.tgz'));
  const shell = (inImage['RUN'] ?? '')
    .replace(/ (?=\/(tmp|root|state))/g, ` ${image}`)
    .replace('--owner=node --group=node ', '');
  const npm = {
    npm_config_prefix: image,
    npm_config_offline: 'true',
    npm_config_cache: join(image, 'root/.npm'),
  };
  expect(await project.run(['sh', '-ec', shell], npm)).toMatchObject({ code: 0 });
  expect((await stat(join(image, 'state'))).mode & 0o777).toBe(0o700);

  const own = Object.fromEntries((inImage['ENV'] ?? '').split(' ').map((one) => one.split('=')));
  const words = [...JSON.parse(inImage['ENTRYPOINT'] ?? ''), ...JSON.parse(inImage['CMD'] ?? '')] as string[];
  const [program = '', ...args] = words;
  const emulator = launchProgram([join(image, 'bin', program), ...args, '--port', '0', '--json', '--quiet'], {
    cwd: join(image, 'state'),
    env: { ...own, ...variables, GATEWAY_SIM_DATA_DIR: join(image, 'state') },
  });
  await emulator.until((stdout) => stdout.includes('\n'));
  const { port, dataDir } = JSON.parse(emulator.stdout()) as { port: number; dataDir: string };
  expect(dataDir).toBe(join(image, 'state'));
  const [, check = '[]'] = inImage['HEALTHCHECK']?.split(' CMD ') ?? [];
  const healthcheck = JSON.parse(check.replace('4477', String(port))) as string[];
  expect(await project.run(healthcheck)).toEqual({ code: 0, output: '' });

  const asShop = {
    host: `gateway:${port}`,
    authorization: `Bearer ${variables['GATEWAY_SIM_CONTROL_TOKEN']}`,
  };
  const statusFor = async (headers: Record<string, string>) => {
    const sent = request(`http://127.0.0.1:${port}/_sim/payments`, { headers }).end();
    const [answer] = (await once(sent, 'response')) as [IncomingMessage];
    answer.resume();
    return answer.statusCode;
  };
  expect(await statusFor(asShop)).toBe(200);
  expect(await statusFor({ host: asShop.host })).toBe(401);
  expect(await statusFor({ ...asShop, host: 'elsewhere' })).toBe(403);
  await project.write(
    'compose.mjs',
    `import { connectGatewaySim } from 'gateway-sim';
     const sim = await connectGatewaySim();
     console.log((await sim.payments.create()).checkoutUrl, sim.secretKey === process.env.GATEWAY_SIM_SECRET_KEY);`,
  );
  const env = { ...shop?.environment, GATEWAY_SIM_URL: `http://127.0.0.1:${port}` };
  const { output } = await project.run([process.execPath, 'compose.mjs'], env);
  expect(output).toMatch(/^http:\/\/localhost:4477\/sandbox\/\S+ true\n$/);
  emulator.child.kill('SIGTERM');
  expect((await emulator.ended).code).toBe(0);
  expect(await project.run(healthcheck)).toEqual({ code: 1, output: '' });
});

/** Replaces the package, which needs Docker. Its containers are processes on this machine. */
const TESTCONTAINERS = `
  import { spawn } from 'node:child_process';
  export const Wait = { forHttp: (path, port) => ({ path, port }) };
  export const TestContainers = { exposeHostPorts: async () => {} };
  export class GenericContainer {
    static fromDockerfile = () => ({ build: async () => new GenericContainer() });
    withExposedPorts = ({ container, host }) => Object.assign(this, { port: container, isSame: container === host });
    withEnvironment = (env) => Object.assign(this, { env });
    withWaitStrategy = (wait) => Object.assign(this, { wait });
    async start() {
      if (!this.isSame || this.wait.port !== this.port) throw new Error('the ports differ');
      const env = { ...process.env, ...this.env, GATEWAY_SIM_HOST: '0.0.0.0', GATEWAY_SIM_PORT: this.port };
      const args = ['node_modules/.bin/gateway-sim', 'start', '--in-memory', '--quiet'];
      const child = spawn(process.execPath, args, { env });
      await new Promise((resolve) => child.stdout.once('data', resolve));
      const { ok } = await fetch('http://localhost:' + this.port + this.wait.path);
      if (!ok) throw new Error('the emulator does not respond');
      return { stop: () => new Promise((resolve) => child.once('exit', resolve) && child.kill()) };
    }
  }`;

test('the recipe for Testcontainers works (with a process instead of a container)', async () => {
  const port = await freePort();
  await mkdir(join(project.folder, 'node_modules/testcontainers'));
  await project.write('node_modules/testcontainers/index.mjs', TESTCONTAINERS);
  await project.write('node_modules/testcontainers/package.json', '{ "exports": "./index.mjs" }');
  await project.write(
    'gateway-container.mjs',
    recipe('gateway-container.mjs').replaceAll('4477', String(port)),
  );
  await project.write(
    'container.mjs',
    `import { fromContainer, startGatewayContainer } from './gateway-container.mjs';
     const { sim, stop } = await startGatewayContainer();
     const receiver = await sim.listen();
     console.log((await fromContainer(receiver.url + '/ipn')).replace(/\\d+/, 'port'));
     const { checkoutUrl } = await sim.payments.create({ identifier: 'order-1', ipnUrl: receiver.url });
     await sim.payments.approve('order-1');
     console.log(new URL(checkoutUrl).host, (await receiver.waitFor()).valid);
     await receiver.close();
     await stop();`,
  );
  const { code, output } = await project.run([process.execPath, 'container.mjs']);
  expect([code, output]).toEqual([
    0,
    `http://host.testcontainers.internal:port/ipn\nlocalhost:${port} true\n`,
  ]);
});
