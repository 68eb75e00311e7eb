import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../helpers/child.ts';
import { launch } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { missing } from '../merchants/running.ts';
import { fence, ROOT } from './pages.ts';

const START = fence('tls-and-proxy.md: Quick start', 'sh', 0);
const CLIENTS = fence('tls-and-proxy.md: Quick start', 'sh', 1);
const OLDER_NODE = fence('tls-and-proxy.md: Quick start', 'sh', 2);

/** Clients that print what the gateway answers to an empty order. */
const SHOPS = {
  'shop.py': `import urllib.request
print(urllib.request.urlopen("https://pay.example.com/sandbox/payment/initiate", b"a=b").read().decode())`,
  'shop.mjs': `const answer = await fetch('https://pay.example.com/sandbox/payment/initiate', { method: 'POST', body: new URLSearchParams('a=b') });
console.log(await answer.text());`,
  'shop.php': `<?php $c = curl_init('https://pay.example.com/sandbox/payment/initiate');
curl_setopt($c, CURLOPT_POSTFIELDS, 'a=b'); curl_exec($c); echo curl_error($c);`,
};

/** An emulator as the page starts it, but on a free port, and what runs a line of the page beside it. */
async function started() {
  const cwd = await temporaryFolder();
  for (const [name, text] of Object.entries(SHOPS)) await writeFile(join(cwd, name), text);
  await mkdir(join(cwd, 'node_modules'));
  await symlink(ROOT, join(cwd, 'node_modules', 'gateway-sim'), 'dir');
  const args = START.trim().split(' ').slice(1);
  const running = launch([...args, '--port', '0', '--json'], { cwd });
  await running.until((stdout) => stdout.includes('\n'));
  const { port } = JSON.parse(running.stdout().split('\n', 1)[0] ?? '') as { port: number };
  // `node` is the one that runs this test.
  const PATH = [dirname(process.execPath), process.env['PATH']].join(delimiter);
  return async (script: string) => {
    const command = ['sh', '-c', script.replaceAll('4477', String(port))];
    const { stdout, stderr } = await runProgram(command, { cwd, env: { PATH } });
    return stdout + stderr;
  };
}

const lineFor = (program: string) =>
  CLIENTS.split('\n').find((line) => line.includes(` ${program}`)) ?? 'there is no such line';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasProxies = major >= 24 || (major === 22 && minor >= 21);

/** Clients, and why one cannot be run here. */
const PROGRAMS: readonly (readonly [program: string, missing: string | undefined])[] = [
  ['php', missing('php', 'curl')],
  ['python3', missing('python')],
  ['node', hasProxies ? undefined : `Node ${process.versions.node} has no NODE_USE_ENV_PROXY`],
];

describe('the clients of tls-and-proxy.md reach the emulator as they are', () => {
  for (const [program, why] of PROGRAMS) {
    it.skipIf(why)(`in ${program}${why ? ` (${why})` : ''}`, async () => {
      const run = await started();
      expect(await run(lineFor(program))).toContain('public_key is required');
    });
  }

  it('in an older Node', async () => {
    const run = await started();
    expect(await run(OLDER_NODE)).toContain('public_key is required');
  });
});
