import { spawnSync } from 'node:child_process';
import { mkdir, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inherited, runProgram } from '../helpers/child.ts';
import { launch } from '../helpers/cli.ts';
import { temporaryFolder } from '../helpers/folder.ts';
import { missing } from '../merchants/running.ts';
import { fence, page, ROOT } from './pages.ts';

const START = fence('tls-and-proxy.md: Quick start', 'sh', 0);
const CLIENTS = fence('tls-and-proxy.md: Quick start', 'sh', 1);
const OLDER_NODE = fence('tls-and-proxy.md: Quick start', 'sh', 2);

/** Clients that post an incomplete order and print the gateway's response. */
const SHOPS = {
  'shop.py': `import urllib.request
print(urllib.request.urlopen("https://pay.example.com/sandbox/payment/initiate", b"a=b").read().decode())`,
  'shop.mjs': `const answer = await fetch('https://pay.example.com/sandbox/payment/initiate', { method: 'POST', body: new URLSearchParams('a=b') });
console.log(await answer.text());`,
  'shop.php': `<?php $c = curl_init('https://pay.example.com/sandbox/payment/initiate');
curl_setopt($c, CURLOPT_POSTFIELDS, 'a=b'); curl_exec($c); echo curl_error($c);`,
  'streams.php': `<?php $http = ['method' => 'POST', 'content' => 'a=b', 'proxy' => 'tcp://127.0.0.1:' . getenv('PORT')];
echo file_get_contents('https://pay.example.com/sandbox/payment/initiate', false, stream_context_create(['http' => $http]));`,
  'requests.txt': ['POST /sandbox/payment/initiate HTTP/1.1', 'Host: pay.example.com', 'Connection: close']
    .concat('Content-Type: application/x-www-form-urlencoded', 'Content-Length: 3', '', 'a=b')
    .join('\r\n'),
};

/** Starts an emulator as on the page, but on a free port. Returns a function that runs a line from the page. */
async function started() {
  const cwd = await temporaryFolder(SHOPS);
  const modules = join(cwd, 'node_modules');
  await mkdir(join(modules, '.bin'), { recursive: true });
  await symlink(ROOT, join(modules, 'gateway-sim'), 'dir');
  // The `node` in a command is the one that runs this test.
  await symlink(process.execPath, join(modules, '.bin', 'node'));
  const PATH = [join(modules, '.bin'), process.env['PATH']].join(delimiter);
  const args = START.trim().split(' ').slice(2);
  const running = launch([...args, '--port', '0', '--json'], { cwd });
  await running.until((stdout) => stdout.includes('\n'));
  const { port } = JSON.parse(running.stdout().split('\n', 1)[0] ?? '') as { port: number };
  return async (script: string) => {
    const command = ['sh', '-c', script.replaceAll('4477', String(port))];
    const { stdout, stderr } = await runProgram(command, { cwd, env: { PATH } });
    return stdout + stderr;
  };
}

const lineFor = (program: string) =>
  CLIENTS.split('\n').find((line) => line.includes(` ${program}`)) ?? `the page has no line for ${program}`;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const hasProxies = major >= 24 || (major === 22 && minor >= 21);

const ADDRESS = 'https://pay.example.com/sandbox/payment/initiate';

/**
 * By client in the table: the arguments with which its command posts an incomplete order, and a check that the client
 * is installed.
 */
const ROWS: Readonly<Record<string, readonly [rest: string, check: string]>> = {
  curl: [`-s -d a=b ${ADDRESS}`, 'curl --version'],
  wget: [`-q -O - --post-data a=b ${ADDRESS}`, 'wget --version'],
  'openssl s_client': [
    '-quiet -verify_return_error -connect pay.example.com:443 < requests.txt',
    'openssl version',
  ],
  'PHP, curl extension': ['shop.php', `php -r 'exit(extension_loaded("curl") ? 0 : 1);'`],
  'PHP, streams': ['streams.php', `php -r 'exit(extension_loaded("openssl") ? 0 : 1);'`],
  'Python, urllib': ['shop.py', 'python3 --version'],
  'Python, requests': [
    `-c 'import requests; print(requests.post("${ADDRESS}", {"a": "b"}).text)'`,
    `python3 -c 'import requests'`,
  ],
  'Node, fetch and https': ['shop.mjs', 'node --version'],
};
const absent = Object.entries(ROWS).flatMap(([client, [, check]]) =>
  spawnSync('sh', ['-c', check], { env: inherited() }).status === 0 ? [] : [client],
);

/** Clients, each with the reason if it cannot run here. */
const PROGRAMS: readonly (readonly [program: string, missing: string | undefined])[] = [
  ['php', missing('php', 'curl')],
  ['python3', missing('python')],
  ['node', hasProxies ? undefined : `Node ${process.versions.node} has no NODE_USE_ENV_PROXY`],
];

describe('unmodified clients from tls-and-proxy.md reach the emulator', () => {
  for (const [program, why] of PROGRAMS) {
    it.skipIf(why)(`in ${program}${why ? ` (${why})` : ''}`, async () => {
      const run = await started();
      expect(await run(lineFor(program))).toContain('public_key is required');
    });
  }

  it(`with each command of the table${absent.length ? ` (not installed: ${absent.join(', ')})` : ''}`, async () => {
    const run = await started();
    const table =
      page('tls-and-proxy.md')
        .split(/^## /m)
        .find((part) => part.startsWith('What each client needs')) ?? '';
    const rows = [...table.matchAll(/^\| (.*?) \| (.*?) \| `(.*?)`/gm)].filter(
      (row) => !row[2]?.includes('not tested'),
    );
    expect(rows.map(([, client]) => client)).toEqual(Object.keys(ROWS));
    for (const [, client = '', , command] of rows) {
      if (absent.includes(client)) continue;
      const set = 'export PORT=4477 PROXY=http://127.0.0.1:4477 CA=$PWD/.gateway-sim/tls/ca.pem';
      expect([client, await run(`${set}; ${command} ${ROWS[client]?.[0]}`)]).toEqual([
        client,
        expect.stringContaining('public_key is required'),
      ]);
    }
  });

  it('with an older version of Node', async () => {
    const run = await started();
    expect(await run(OLDER_NODE)).toContain('public_key is required');
  });
});
