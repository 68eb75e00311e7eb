import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { fence, page as textOf } from '../docs/pages.ts';
import { serve } from '../docs/serve.ts';
import { typed } from '../docs/typed.ts';
import { inherited } from '../helpers/child.ts';
import { startHere } from '../helpers/cli.ts';
import { bother } from '../helpers/hostile-clients.ts';
import { freePort } from '../helpers/port.ts';
import { AUDIT_CASES } from '../helpers/scope.ts';
import { missing } from '../merchants/running.ts';
import { createProject } from './project.ts';

/* The pages that take a reader from a shop to CI: everything that they tell the reader to type. */

/** Where Express is installed beside a program on the PATH, as `.ci/runners` does; undefined if nowhere. */
const EXPRESS = (process.env['PATH'] ?? '')
  .split(delimiter)
  .map((folder) => join(folder, 'node_modules', 'express'))
  .find((folder) => existsSync(folder));

/** The part of Express that the page uses. */
const EXPRESS_STAND_IN = `
module.exports = () => {
  const routes = [];
  const steps = [];
  const run = async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost');
    const found = routes.find(({ method, pattern }) => method === request.method && pattern.test(pathname));
    request.query = Object.fromEntries(searchParams);
    request.params = found?.pattern.exec(pathname).groups ?? {};
    for (const step of steps) await step(request);
    if (found) await found.answer(request, response);
    else response.status(404).send('not found');
  };
  const add = (method) => (path, answer) =>
    routes.push({ method, answer, pattern: new RegExp('^' + path.replace(/:(\\w+)/g, '(?<$1>[^/]+)') + '$') });
  const app = {
    set: () => app,
    get: add('GET'),
    post: add('POST'),
    use: (step) => steps.push(step),
    listen: (...args) =>
      require('node:http').createServer((request, response) => {
        response.status = (code) => Object.assign(response, { statusCode: code });
        response.send = (text) => response.end(text);
        response.json = (value) => response.end(JSON.stringify(value));
        response.redirect = (code, location) => response.writeHead(code, { location }).end();
        run(request, response).catch(() => response.writeHead(500).end());
      }).listen(...args),
  };
  return app;
};
module.exports.text = () => async (request) => {
  let body = '';
  for await (const chunk of request) if (body.length < 102_400) body += chunk;
  request.body = body;
};`;

const hasModule = (name: string) =>
  spawnSync('python3', ['-c', `import ${name}`], { env: inherited() }).status === 0;
const noFlask = ['flask', 'pytest'].find((name) => !hasModule(name));
const noPython = missing('python') ?? (noFlask && `${noFlask} is not installed`);

const STACKS = [
  {
    page: 'stacks/express.md',
    language: 'javascript',
    files: ['shop.mjs', 'pay.test.mjs'],
    why: undefined,
    stood: EXPRESS ? '' : ' (with a stand-in: express is not installed)',
    passed: /pass 2\n/,
    flaw: ['payments.cjs', `\${fields.get('data[amount]')}`, `\${Number(fields.get('data[amount]'))}`],
  },
  {
    page: 'stacks/flask.md',
    language: 'py',
    files: ['shop.py', 'test_shop.py'],
    why: noPython,
    stood: '',
    passed: /2 passed/,
    flaw: ['payments.py', 'fields.get("data[amount]", "") +', 'str(float(fields["data[amount]"])) +'],
  },
  {
    page: 'stacks/plain-php.md',
    language: 'php',
    files: ['shop.php', 'test.php'],
    why: missing('php', 'pdo_sqlite'),
    stood: '',
    passed: /A paid order is shipped\./,
    flaw: ['payments.php', "field('data', 'amount') .", "(float) field('data', 'amount') ."],
  },
] as const;

async function installExpress(project: string): Promise<void> {
  const folder = join(project, 'node_modules', 'express');
  if (EXPRESS) return symlink(EXPRESS, folder);
  await mkdir(folder);
  await writeFile(join(folder, 'index.js'), EXPRESS_STAND_IN);
}

describe.each(STACKS)(
  '$page',
  ({ page, language, files: [shopFile, testFile], why, stood, passed, flaw }) => {
    const here = why ? ` (${why})` : stood;
    const shop = fence(`${page}: 1. The shop`, language);
    const commands = (place: string, number = 0) =>
      fence(`${page}: ${place}`, 'sh', number).trim().split('\n');

    /** A project with the files of the page. `type` runs a command there. */
    async function open() {
      const project = await createProject();
      onTestFinished(project.remove);
      const type = (line: string) =>
        project.run(['sh', '-ec', line.replaceAll('npx ', 'node_modules/.bin/')]);
      await project.write(shopFile, shop);
      if (language === 'javascript') await installExpress(project.folder);
      const init = commands('1. The shop').at(-1) ?? '';
      expect(await type(init)).toMatchObject({ code: 0 });
      await project.write(testFile, fence(`${page}: 3. Test`, language));
      return { ...project, type };
    }

    test.skipIf(why)(`the shop is paid by hand, even after hostile clients${here}`, async () => {
      const { folder } = await open();
      const { cwd, ...sim } = await startHere();
      const [line = ''] = commands('2. Pay for an order');
      const [, command = ''] = line.split(' -- ');
      const port = await freePort();
      const url = `http://localhost:${port}`;
      const own = command.replace('3000', String(port)).split(' ');
      await serve(own, {
        cwd: folder,
        env: {
          PORT: String(port),
          GATEWAY_SIM_INITIATE_URL: `${sim.url}/sandbox/payment/initiate`,
          GATEWAY_SIM_PUBLIC_KEY: sim.publicKey,
          GATEWAY_SIM_SECRET_KEY: sim.secretKey,
        },
      });
      await bother(`${url}/ipn`);
      const typedBy = fence(`${page}: 2. Pay for an order`, 'sh', 1).replaceAll('http://localhost:3000', url);
      const { stdout } = await typed(typedBy, { cwd });
      expect(stdout).toMatch(/303/);
      expect(stdout).toMatch(/IPN +delivered/);
    });

    test.skipIf(why)(
      `the test passes, also without exec, and fails with the fix if the shop signs wrongly${here}`,
      async () => {
        const { folder, type, write } = await open();
        const [line = ''] = commands('3. Test');
        const { code, output } = await type(line);
        expect([code, output]).toEqual([0, expect.stringMatching(passed)]);
        // The library connects to a running emulator; the others start one if there is none.
        const alone = line.replace('npx gateway-sim exec -- ', '');
        if (language !== 'javascript') expect(await type(alone)).toMatchObject({ code: 0 });
        const [file, from, to] = flaw;
        const verifies = readFileSync(join(folder, file), 'utf8');
        expect(verifies).toContain(from);
        expect(textOf(page)).toMatch(new RegExp(`To see it fail, sign \`.*\` as the amount .*\`${file}\``));
        await write(file, verifies.replace(from, to));
        const broken = await type(line);
        expect(broken.code).not.toBe(0);
        const [, said = ''] = /The test says \*(.*?)\*/.exec(textOf(page)) ?? [];
        expect(broken.output).toContain(said);
      },
    );

    test.skipIf(why)(`the shop passes the audit${here}`, async () => {
      const { type } = await open();
      const port = String(await freePort());
      const scope = AUDIT_CASES ? `--only ${AUDIT_CASES}` : '';
      const lines = commands('4. Audit').map((line) =>
        line.replaceAll('3000', port).replace(' audit ', ` audit ${scope} `),
      );
      const { code, output } = await type([`export PORT=${port}`, ...lines].join('\n'));
      expect([code, output]).toEqual([0, expect.stringContaining('No attack worked.')]);
      expect(output).not.toMatch(/at-risk|unproven/);
    });

    test('CI runs the commands of the page', () => {
      const { jobs } = parse(fence(`${page}: 5. CI`, 'yaml'));
      const steps: { run?: string }[] = jobs.shop.steps;
      const runs = steps.flatMap(({ run }) => run ?? []);
      const [tested, audited] = [commands('3. Test').at(-1), commands('4. Audit').at(-1)];
      expect(runs).toEqual(expect.arrayContaining(['npm ci', tested, audited]));
    });
  },
);
