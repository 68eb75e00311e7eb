import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Ajv2020 from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect, inject, onTestFinished, test } from 'vitest';
import { launch, run, start, startHere } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { startReceiver } from '../helpers/receiver.ts';
import { ORDER } from '../helpers/sim.ts';
import { STEPS, TARBALL } from '../recipes/packed.ts';
import { createProject } from '../recipes/project.ts';
import { fence, page, ROOT } from './pages.ts';
import { typed } from './typed.ts';

const noCurl = spawnSync('curl', ['--version']).status === 0 ? '' : ' (curl is not installed)';
const SECRET_KEY = 'sec_sim_example_not_a_real_key';
const SIGNATURE = createHmac('sha256', SECRET_KEY).update('49.90order-1').digest('hex').toUpperCase();

/** An emulator on disk, a receiver, and a function that runs commands from a page. */
async function openShell() {
  const { cwd, ...sim } = await startHere({ secretKey: SECRET_KEY });
  const receiver = await startReceiver();
  const here = (text: string) =>
    text
      .replaceAll('http://127.0.0.1:4477', sim.url)
      .replaceAll('http://localhost:3000/ipn', `${receiver.url}/ipn`)
      .replaceAll('pub_sim_example_not_a_real_key', sim.publicKey);
  return {
    sim,
    cwd,
    receiver,
    here,
    type: (text: string) => typed(here(text), { cwd }),
    initiate: (fields: Record<string, string> = {}) =>
      sim.initiate({ ...ORDER, ipn_url: `${receiver.url}/ipn`, ...fields }),
  };
}

/** The command and the output of a console block. */
function consoleAt(place: string): { command: string; output: string } {
  const [, command = '', output = ''] = /^\$ (.*)\n([\s\S]*)$/.exec(fence(place, 'console')) ?? [];
  return { command, output };
}

/** Without values that differ between runs: ids, times, ports, signatures. */
function steady(text: string): string {
  return text
    .replace(/\b(pay|ipn)_[0-9a-z]{16,24}\b/g, '$1_…')
    .replace(/sim-[0-9a-z]{8}-[0-9a-z]{4}/g, 'sim-…')
    .replace(/\d\d(:|%3A)\d\d(:|%3A)\d\d/g, '…')
    .replace(/\d{4}-\d\d-\d\d/g, '…')
    .replace(/(signature=)[0-9A-F]{64}/g, '$1…')
    .replace(/(payment_trx%5D=)[0-9A-Z]{12}/g, '$1…')
    .replace(/[\d.]+ m?s\b/g, '… ms')
    .replace(/(127\.0\.0\.1|localhost):\d+/g, '$1:…')
    .replace(/((?:Public|Secret) key +)\S+/g, '$1…')
    .trim();
}

test('the first minute in README.md works as shown', async () => {
  const place = 'README.md: The first minute';
  const start = fence(place, 'text');
  const [listen = '', merchant = '', received = ''] = [0, 1, 2].map((number) =>
    fence(place, 'console', number),
  );
  const cwd = await temporaryFolder();
  // In a clone, npx runs the program.
  const shown = (text: string) => steady(text.replaceAll(/node \S+gateway-sim\.js/g, 'npx gateway-sim'));
  const emulator = launch(['start', '--port', '0'], { cwd });
  await emulator.until((stdout) => stdout.includes('Press Ctrl-C to stop.'));
  const receiver = launch(['ipn', 'listen', '--port', '0'], { cwd });
  await receiver.until((stdout) => stdout.includes('Press Ctrl-C to stop.'));
  const [, port = ''] = /:(\d+)\./.exec(receiver.stdout()) ?? [];

  expect(shown(emulator.stdout())).toBe(steady(start));
  expect(shown(`$ npx gateway-sim ipn listen\n${receiver.stdout()}`)).toBe(steady(listen));

  const commands = [...merchant.matchAll(/^\$ npx gateway-sim (.+)$/gm)].map(([, line = '']) => line);
  let session = '';
  for (const command of commands) {
    const more = command.startsWith('payments create') ? ['--ipn-url', `http://localhost:${port}/ipn`] : [];
    const args = [...command.split(' '), ...more];
    const { code, stdout, stderr } = await run(args, { cwd });
    expect([command, code]).toEqual([command, 0]);
    session += `$ npx gateway-sim ${command}\n${stdout}${stderr}\n`;
  }
  expect(shown(session)).toBe(steady(merchant));

  // The receiver may still be writing.
  const receiverLog = () => shown(receiver.stdout().slice(receiver.stdout().indexOf('-->')));
  await expect.poll(receiverLog).toBe(steady(received));
});

test('README.md and CONTRIBUTING.md name scripts that exist', async () => {
  const { scripts } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  // Pasted together, the second would never run.
  expect(fence('README.md: Start', 'sh')).toBe('npm ci && npm start\n');
  expect(fence('README.md: Start', 'sh', 1)).toBe('npm cit\n');
  expect(scripts).toMatchObject({ start: 'node bin/gateway-sim.js start', test: expect.any(String) });
  for (const [, script = ''] of page('.github/CONTRIBUTING.md').matchAll(/`(?:npm run )?(test:\w+|docs)`/g)) {
    expect(scripts).toHaveProperty([script]);
  }
});

test('the steps in README.md install the package without other packages', async () => {
  const [pack, install] = [0, 1].map((number) => fence('README.md: In your own project', 'sh', number));
  expect([pack, install]).toEqual([`${STEPS.pack}\n`, `${STEPS.install}\n`]);
  const { folder, run, remove } = await createProject();
  onTestFinished(remove);
  const { packages } = JSON.parse(await readFile(join(folder, 'package-lock.json'), 'utf8'));
  expect(Object.keys(packages)).toEqual(['', 'node_modules/gateway-sim']);
  const { output } = await run(['node_modules/.bin/gateway-sim', '--version']);
  expect(output).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test('npm run pack prints only the name of the package, and what npm runs', async () => {
  const { stdout, stderr } = inject('printed');
  const lines = stdout.split('\n').filter((line) => line !== '' && !line.startsWith('> '));
  expect([lines, stderr]).toEqual([[TARBALL], '']);
  expect(await readdir(join(inject('installed'), 'gateway-sim'))).toEqual([TARBALL]);
});

test.skipIf(noCurl)(`initiate.md shows the actual responses${noCurl}`, async () => {
  const shell = await openShell();
  const { stdout } = await shell.type(fence('initiate.md: Initiate a payment', 'sh'));
  const answer = shell.here(fence('initiate.md: Initiate a payment', 'json'));
  expect(steady(stdout)).toBe(steady(answer));
  const body = new URLSearchParams({
    ...ORDER,
    public_key: shell.sim.publicKey,
    amount: 'abc',
    site_logo: '',
  });
  const refused = await fetch(`${shell.sim.url}/sandbox/payment/initiate`, { method: 'POST', body });
  expect(`${JSON.stringify(await refused.json())}\n`).toBe(fence('initiate.md: Errors', 'json'));
});

test('receive-and-verify.md shows an actual IPN', async () => {
  const shell = await openShell();
  await shell.initiate({ customer_name: 'Ada Example' });
  await shell.type('npx gateway-sim pay --approve');
  const { body } = await shell.receiver.request(1);
  const documented = fence('receive-and-verify.md: What the IPN holds', 'text');
  const fieldsOf = (text: string) => [...new URLSearchParams(text).entries()];
  const shown = documented
    .trim()
    .split('\n')
    .map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]);
  const changing = ['data[payment_trx]', 'data[payment_timestamp]'];
  const comparable = (fields: [string, string][]) => fields.filter(([name]) => !changing.includes(name));
  expect(comparable(fieldsOf(body))).toEqual(comparable(shown));
  expect(documented).toContain(`signature=${SIGNATURE}\n`);
});

test('ipns-by-hand.md shows the actual output for an IPN that is rejected', async () => {
  const receiver = await startReceiver(({ body }) => {
    const form = new URLSearchParams(body);
    const text = `${Number(form.get('data[amount]'))}${form.get('identifier')}`;
    const expected = createHmac('sha256', SECRET_KEY).update(text).digest('hex');
    const headers = { 'X-Powered-By': 'PHP/8.3.1' };
    return { headers, status: expected.toUpperCase() === form.get('signature') ? 200 : 400 };
  });
  const { cwd, initiate } = await startHere({ secretKey: SECRET_KEY });
  await initiate({ ...ORDER, ipn_url: receiver.url });
  await run(['pay', '--approve'], { cwd });
  const { command, output } = consoleAt('ipns-by-hand.md: Why your handler rejects an IPN');
  const args = command.trim().replace('npx gateway-sim ', '').split(' ');
  const { stdout } = await run(args, { cwd });
  expect(stdout.replace(/In PHP: .*\n/, 'In PHP: …\n')).toContain(output);
});

test('ipns-by-hand.md shows the actual output for a wrong signature', async () => {
  const shell = await openShell();
  const { command, output } = consoleAt('ipns-by-hand.md: Why a signature does not match');
  const fields = { status: 'success', signature: SIGNATURE, identifier: 'order-1', 'data[amount]': '49.9' };
  await writeFile(join(shell.cwd, 'body.txt'), new URLSearchParams(fields).toString());
  const failed = await shell.type(command);
  expect(failed).toMatchObject({ code: 1 });
  expect(failed.stdout).toContain(output);
});

test('without-a-browser.md shows the actual output of pay', async () => {
  const shell = await openShell();
  await shell.initiate();
  const { command, output } = consoleAt('without-a-browser.md: One payment at a time');
  const { stdout } = await shell.type(command);
  expect(steady(stdout)).toBe(steady(shell.here(output)));
});

test('the commands in ipns-by-hand.md resend, compose and forge IPNs', async () => {
  const shell = await openShell();
  await shell.initiate();
  await shell.type('npx gateway-sim pay --approve');
  const { stdout } = await shell.type('npx gateway-sim ipn list --json');
  const [{ id }] = JSON.parse(stdout).data;
  await shell.type(fence('ipns-by-hand.md: IPNs by hand', 'sh').replace(/ipn_\w+/, id));
  const bodies = shell.receiver.requests.map(({ body }) => new URLSearchParams(body));
  expect(bodies).toHaveLength(4);
  expect(bodies[1]).toEqual(bodies[0]);
  expect(bodies[2]?.get('data[charge]')).toBe('1');
  expect(bodies[3]?.get('data[amount]')).not.toBe('49.90');
});

test('the commands in faults.md set four faults and clear them', async () => {
  const shell = await openShell();
  const lines = fence('faults.md: Faults', 'sh').trim().split('\n');
  const { stdout } = await shell.type([...lines.slice(0, -1), 'npx gateway-sim faults --json'].join('\n'));
  expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').data).toHaveLength(4);
  expect((await shell.type(lines.at(-1) ?? '')).stdout).toContain('4 cleared');
});

test('the commands in retries.md turn on retries', async () => {
  const lines = fence('retries.md: Turn on retries', 'sh').trim().split('\n');
  const retries = lines.map(async (line) => {
    const [command = ''] = line.split('#');
    const flags = command.trim().split(' ').slice(3);
    const { ready } = await start(['--in-memory', ...flags], { cwd: await temporaryFolder() });
    const status = (await (await fetch(`${ready.url}/_sim/status`)).json()) as { options: object };
    return status.options;
  });
  expect(await Promise.all(retries)).toMatchObject([{ ipnRetries: 2 }, { ipnRetries: 3 }]);
});

test('the commands in time.md move the clock to 2030 and back', async () => {
  const shell = await openShell();
  await shell.type(fence('time.md: Time and clock', 'sh'));
  const { stdout } = await shell.type('npx gateway-sim clock --json');
  expect(JSON.parse(stdout)).toMatchObject({ frozen: false, aheadMs: 0 });
  const typed = await shell.type(fence('time.md: Time and clock', 'sh').replace(/.*clock reset.*\n/, ''));
  expect(typed.stdout).toContain('2030-01-01T00:00');
});

test.skipIf(noCurl)(`the commands in cards.md create, charge, block and cancel a card${noCurl}`, async () => {
  const shell = await openShell();
  const { stdout } = await shell.type(fence('cards.md: Virtual cards', 'sh'));
  expect(stdout).toContain('"available_balance":86.5');
  expect(stdout).toContain('"remark":"make_payment"');
  expect(stdout).toContain('"status":"inactive"');
  expect(stdout).toContain('"status":"canceled"');
  expect(stdout).toContain('"total":1');
});

test('the commands in state.md export, import and reset the state', async () => {
  const shell = await openShell();
  await shell.initiate();
  const [exported = '', imported = '', reset = ''] = fence('state.md: Export, import and reset', 'sh')
    .trim()
    .split('\n');
  await shell.type(`${exported}\nnpx gateway-sim pay --approve\n${imported}`);
  const payments = async () => JSON.parse((await shell.type('npx gateway-sim payments --json')).stdout).data;
  expect(await payments()).toMatchObject([{ identifier: 'order-1', status: 'pending' }]);
  await shell.type(reset);
  expect(await payments()).toEqual([]);
});

test.skipIf(noCurl)(`the request in dashboard.md settles a payment${noCurl}`, async () => {
  const shell = await openShell();
  await shell.initiate();
  const { stdout } = await shell.type(fence('dashboard.md: Control API', 'sh'));
  expect(JSON.parse(stdout)).toMatchObject({ payment: { identifier: 'order-1', status: 'succeeded' } });
});

test.each([
  'configuration.md: Configuration',
  'without-a-browser.md: Payments that settle automatically',
  'faults.md: Conditions',
])('%s shows a valid configuration file', async (place) => {
  const code = fence(place, 'json');
  const schema = JSON.parse(await readFile(join(ROOT, 'fixtures/config.schema.json'), 'utf8'));
  const ajv = new Ajv2020.default({ strict: false });
  addFormats.default(ajv);
  const validate = ajv.compile(schema);
  expect([validate(JSON.parse(code)), validate.errors]).toEqual([true, null]);
  const cwd = await temporaryFolder({ 'gateway-sim.config.json': code });
  const { ready } = await start(['--in-memory'], { cwd });
  expect((await fetch(`${ready.url}/_sim/readyz`)).status).toBe(200);
});

test('configuration.md shows the fields that start prints for programs', async () => {
  const { ready } = await start([], { cwd: await temporaryFolder() });
  const shown = JSON.parse(fence('configuration.md: Starting it from a program', 'json'));
  expect(Object.keys(ready)).toEqual(Object.keys(shown));
});

test('reference/files.md names every file', async () => {
  const shell = await openShell();
  await shell.initiate();
  const named = [...page('reference/files.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
  const running = await readdir(join(shell.cwd, '.gateway-sim'));
  expect(running).toEqual(expect.arrayContaining(['db.json', 'journal.jsonl', 'server.json', 'lock']));
  expect(running.filter((name) => !named.includes(name))).toEqual([]);
});

test('the commands for a released package name it', async () => {
  const { name } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  for (const line of fence('.github/CONTRIBUTING.md: Releasing', 'sh').trim().split('\n'))
    expect(line).toContain(name);
});
