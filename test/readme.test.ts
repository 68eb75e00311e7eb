import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EXIT_CODES } from '../src/cli/output.ts';
import { kebab } from '../src/contract/hint.ts';
import { CARD_ACTIONS } from '../src/contract/vocabulary.ts';
import { CARD_TRANSITIONS } from '../src/domain/card.ts';
import { START_OPTIONS } from '../src/options.ts';
import { commandReference } from './helpers/commands.ts';
import { temporaryFolder } from './helpers/folder.ts';
import { startReceiver } from './helpers/receiver.ts';
import { startSim } from './helpers/sim.ts';

const README = await readFile(new URL('../README.md', import.meta.url), 'utf8');

/** The first code block of a language below a heading. */
function codeBelow(heading: string, language: string): string {
  const section = README.split(new RegExp(`^#+ ${heading}$`, 'm'))[1] ?? '';
  return section.split(`\`\`\`${language}\n`)[1]?.split('\n```')[0] ?? '';
}

function isInstalled(command: string): boolean {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;
}

const RECEIVERS = [
  {
    name: 'PHP',
    language: 'php',
    file: 'ipn.php',
    run: (file: string) => ['php', '-S', 'localhost:0', file],
    // PHP's own server tells its address among other things on stderr.
    address: /\((http:\/\/localhost:\d+)\) started/,
  },
  {
    name: 'Node',
    language: 'js',
    file: 'ipn.mjs',
    run: (file: string) => [process.execPath, file],
    address: /(http:\/\/localhost:\d+)/,
  },
  {
    name: 'Python',
    language: 'python',
    file: 'ipn.py',
    run: (file: string) => ['python3', file],
    address: /(http:\/\/localhost:\d+)/,
  },
] as const;

/** Runs a receiver of the README as it stands there, on a free port. */
async function runReceiver(receiver: (typeof RECEIVERS)[number], secretKey: string): Promise<string> {
  const file = join(await temporaryFolder(), receiver.file);
  await writeFile(file, codeBelow(receiver.name, receiver.language));
  const [command = '', ...rest] = receiver.run(file);
  const child = spawn(command, rest, {
    env: { ...process.env, GATEWAY_SECRET_KEY: secretKey, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => ended(child));
  return new Promise((resolve, reject) => {
    let output = '';
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const address = receiver.address.exec(output)?.[1];
      if (address) resolve(`${address}/ipn`);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    child.on('error', reject);
    child.on('exit', (code) => reject(new Error(`${command} ended with ${code}:\n${output}`)));
  });
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = new Promise((resolve) => child.once('exit', resolve));
  child.kill('SIGKILL');
  await exit;
}

interface Settled {
  delivery: { state: string; body: string; attempts: { responseStatus: number; responseBody: string }[] };
}

describe.each(RECEIVERS)('the $name receiver of the README', (receiver) => {
  const [command = ''] = receiver.run('');

  test.skipIf(!isInstalled(command)).for(['100', '100.00', '49.9', '0.1'])(
    'accepts a real IPN over %s, and refuses it once anything in it was changed',
    async (amount) => {
      const sim = await startSim();
      const url = await runReceiver(receiver, sim.secretKey);
      await sim.initiate({
        identifier: 'order-1',
        currency: 'USD',
        amount,
        details: 'Ünïcode & more',
        ipn_url: url,
        success_url: 'http://localhost/paid',
        cancel_url: 'http://localhost/cart',
        site_logo: 'http://localhost/logo.png',
        customer_name: 'Ada Lovelace',
        customer_email: 'ada@example.com',
      });
      const answer = await fetch(`${sim.url}/_sim/payments/order-1/settle`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ outcome: 'approve', awaitDelivery: true }),
      });
      const { delivery } = (await answer.json()) as Settled;
      expect(delivery.attempts).toMatchObject([{ responseStatus: 200, responseBody: 'OK' }]);
      expect(delivery.state).toBe('delivered');

      const changes = {
        'data[amount]': '1000000',
        identifier: 'order-2',
        status: 'failed',
        signature: new URLSearchParams(delivery.body).get('signature')?.toLowerCase() ?? '',
      };
      for (const [name, value] of [...Object.entries(changes), ['signature', ''] as const]) {
        const body = new URLSearchParams(delivery.body);
        expect(body.has(name)).toBe(true);
        body.set(name, value);
        const refusal = await fetch(url, { method: 'POST', body });
        expect([name, refusal.status, await refusal.text()]).toEqual([name, 400, 'refused']);
      }
      expect((await fetch(url, { method: 'POST', body: new URLSearchParams() })).status).toBe(400);
    },
  );
});

test.skipIf(!isInstalled('curl'))('the curl command of the README initiates a payment', async () => {
  const sim = await startSim();
  const receiver = await startReceiver();
  const command = codeBelow('Talk to it with curl', 'sh')
    .replace('http://127.0.0.1:4477', sim.url)
    .replace('http://localhost:3000/ipn', `${receiver.url}/ipn`);
  const { stdout } = await promisify(execFile)('sh', ['-c', command]);
  expect(JSON.parse(stdout)).toMatchObject({ success: 'ok', url: expect.stringContaining(sim.url) });
  expect(await sim.control('/payments/order-1')).toMatchObject({ status: 'pending', amount: '49.90' });
});

describe('the README tells of', () => {
  const flags = Object.entries(START_OPTIONS)
    .filter(([, { kind }]) => kind !== 'structure')
    .map(([name, spec]) => `--${'default' in spec && spec.default === true ? 'no-' : ''}${kebab(name)}`);

  test.each(flags)('the option %s of start', (flag) => {
    expect(README).toMatch(new RegExp(`\`${flag}(?![\\w-])`));
  });

  test('every exit code', () => {
    for (const code of new Set([0, ...Object.values(EXIT_CODES)])) expect(README).toContain(`\n| ${code} | `);
  });

  test('no heading that its links lead past', () => {
    const anchors = [...README.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    for (const [, anchor] of README.matchAll(/\]\(#([\w-]+)\)/g)) expect(anchors).toContain(anchor);
  });
});

/** Made anew by: REFRESH=1 npx vitest run --config test/vitest.config.ts test/readme.test.ts -t reference */
test('the command reference is what the command line says of itself', async () => {
  const [before = '', section = ''] = README.split(/(?<=^## Command reference\n)/m);
  const end = section.search(/^## /m);
  const made = `\n${commandReference()}\n\n`;
  if (process.env['REFRESH']) {
    await writeFile(new URL('../README.md', import.meta.url), before + made + section.slice(end));
  } else {
    expect(section.slice(0, end)).toBe(made);
  }
});

test('the states of a card are those of the table', () => {
  for (const [status, next] of Object.entries(CARD_TRANSITIONS)) {
    const cells = CARD_ACTIONS.map((trigger) =>
      next[trigger] === null ? 'refused' : `\`${next[trigger]}\``,
    );
    expect(README).toContain(`| \`${status}\` | ${cells.join(' | ')} |`);
  }
});

test.runIf(isInstalled('curl'))('the curl session of the virtual cards runs as it stands', async () => {
  const sim = await startSim();
  const session = codeBelow('Virtual cards', 'sh')
    .replace(/^URL=.*$/m, `URL=${sim.url}`)
    .replaceAll('npx gateway-sim', `'${process.execPath}' bin/gateway-sim.js --url $URL`);
  const { stdout } = await promisify(execFile)('sh', ['-ec', session], {
    cwd: new URL('..', import.meta.url),
  });
  expect(stdout).toContain('"available_balance":86.5');
  expect(stdout).toContain('"remark":"make_payment"');
  expect(stdout).toContain('"status":"inactive"');
  expect(stdout).toContain('"status":"canceled"');
  expect(stdout).toContain('"total":1');
});
